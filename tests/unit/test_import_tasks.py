"""`fairtrial import tasks`: rerun-bench folders and Harbor tasks become packages, or the line in the way is named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from fairtrial import __main__ as command
from fairtrial.authoring.check import check_task
from fairtrial.contracts.errors import UserError
from fairtrial.plan import tasks

RERUN_TOML = """\
id = "Fix It"
title = "Fix \\"it\\""
prompt = "Write 42 to answer.txt"
timeout = 90
tags = ["x"]
"""
RERUN = {
    "task.toml": RERUN_TOML,
    "workspace/answer.txt": "?\n",
    "solution/answer.txt": "42\n",
    "verify.py": 'import sys\nsys.exit(open("answer.txt").read() != "42\\n")\n',
}
HARBOR_TOML = """\
[task]
name = "org/doubled"
keywords = ["a"]
[agent]
timeout_sec = 120.0
[verifier]
timeout_sec = 30
"""
DOCKERFILE = """\
# a comment
FROM ubuntu:24.04
WORKDIR /app
COPY data \\
  ./data/
COPY a.txt b.txt more/
"""
HARBOR = {
    "task.toml": HARBOR_TOML,
    "instruction.md": "Write the number in /app/data/n.txt doubled to /app/out.txt; /apple is no path of ours.\n",
    "environment/Dockerfile": DOCKERFILE,
    "environment/data/n.txt": "5\n",
    "environment/a.txt": "a\n",
    "environment/b.txt": "b\n",
    "tests/test.sh": "python3 /tests/look.py; echo $((1 - $?)) > /logs/verifier/reward.txt; exit 7\n",
    "tests/look.py": 'import sys\nsys.exit(open("/app/out.txt").read() != "10\\n")\n',
    "solution/solve.sh": "cat /solution/ten > /app/out.txt\n",
    "solution/ten": "10\n",
}


def lay(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def bring(form: str, folder: Path, into: Path) -> int:
    """Run the command; its exit code."""
    return command.main(["import", "tasks", form, str(folder), "--into", str(into)])


def judged(into: Path, name: str) -> list[str]:
    """What `check` says of an imported task, without the wrong solutions it cannot have yet."""
    found = check_task(tasks.read(f"{into.name}/{name}", into / name)).problems
    return [line for line in found if not line.startswith("wrong/: needs")]


def test_a_rerun_bench_task_works(tmp_path: Path) -> None:
    """Red at the start, green with its solution, everything taken over."""
    lay(tmp_path / "theirs" / "one", RERUN)
    into = tmp_path / "ours" / "rb"
    assert bring("rerun-bench", tmp_path / "theirs", into) == 0
    task = tasks.read("rb/fix-it", into / "fix-it")
    kept = {key: task.settings[key] for key in ("title", "tags", "wall_seconds")}
    assert kept == {"title": 'Fix "it"', "tags": ["imported", "x"], "wall_seconds": 90}
    assert (task.prompt, task.settings["verifier"]["seconds"]) == ("Write 42 to answer.txt", 60)
    assert judged(into, "fix-it") == []


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("timeout = 90\n", "", "task.toml: timeout: is missing; it must be a number"),
        ("timeout = 90", 'timeout = "90"', "task.toml: timeout: is '90'; it must be a number"),
        ("timeout = 90", "timeout = 0", "task.toml: timeout: is 0; it must be above 0"),
        ('prompt = "Write 42 to answer.txt"\n', "", "task.toml: prompt: is missing; it must be text"),
        ("id =", "id = =", "task.toml: not valid TOML"),
    ],
)
def test_a_rerun_bench_task_that_is_not_whole_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, why: str
) -> None:
    """File, key and what it must be; nothing is written, and the exit code says so."""
    lay(tmp_path / "one", {**RERUN, "task.toml": RERUN["task.toml"].replace(old, new, 1)})
    assert bring("rerun-bench", tmp_path / "one", tmp_path / "rb") == 1
    assert why in capsys.readouterr().out
    assert not (tmp_path / "rb").exists()


def test_a_harbor_task_works(tmp_path: Path) -> None:
    """Its files are where the Dockerfile puts them, its paths are the box's, and its reward is the verdict."""
    lay(tmp_path / "theirs" / "doubled", HARBOR)
    into = tmp_path / "ours" / "hb"
    assert bring("harbor", tmp_path / "theirs", into) == 0
    folder = into / "doubled"
    shown = sorted(p.relative_to(folder / "workspace").as_posix() for p in (folder / "workspace").rglob("*.txt"))
    assert shown == ["data/n.txt", "more/a.txt", "more/b.txt"]
    prompt = "Write the number in /task/data/n.txt doubled to /task/out.txt; /apple is no path of ours.\n"
    assert (folder / "prompt.md").read_text() == prompt
    assert judged(into, "doubled") == []


def test_a_harbor_test_that_leaves_no_reward_is_a_verifier_error(tmp_path: Path) -> None:
    """Neither the exit status of test.sh nor a word in its output stands for a reward."""
    lay(tmp_path / "doubled", {**HARBOR, "tests/test.sh": "echo 5 passed; exit 0\n"})
    bring("harbor", tmp_path / "doubled", tmp_path / "hb")
    assert any("test.sh left no reward" in line for line in judged(tmp_path / "hb", "doubled"))


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("environment/Dockerfile", "FROM x\n\nRUN make\n", "Dockerfile:3: 'RUN make': RUN needs an image build"),
        ("environment/Dockerfile", "FROM x\nENV A=1\n", "Dockerfile:2: 'ENV A=1': ENV needs an image build"),
        ("environment/Dockerfile", "FROM x\nFROM y\n", "Dockerfile:2: 'FROM y': a second stage"),
        (
            "environment/Dockerfile",
            "FROM x\nWORKDIR /app\nCOPY data /etc/\n",
            "Dockerfile:3: 'COPY data /etc/': copies to",
        ),
        (
            "environment/Dockerfile",
            "FROM x\nCOPY data /a/\n",
            "Dockerfile:2: 'COPY data /a/': files are copied, and no",
        ),
        ("environment/Dockerfile", "FROM x\nWORKDIR /a\nCOPY ../b .\n", "Dockerfile:3: 'COPY ../b .': only files of"),
        ("environment/Dockerfile", "FROM x\nWORKDIR /a\nADD https://x.invalid/y .\n", "only files of environment/"),
        ("environment/Dockerfile", "FROM x\nWORKDIR /a\nCOPY --from=b c .\n", "--from=b needs an image build"),
        ("environment/Dockerfile", "FROM x\nWORKDIR /a\nCOPY none .\n", "Dockerfile:3: 'COPY none .': none is not in"),
        ("environment/docker-compose.yaml", "services: {}\n", "docker-compose.yaml:1: a composition of containers"),
        ("task.toml", '[environment]\ndocker_image = "x"\n', "task.toml:2: environment.docker_image = 'x' needs"),
        ("task.toml", "[environment]\ncpus = 1\ngpus = 1\n", "task.toml:3: environment.gpus = 1 needs"),
        ("task.toml", '[environment]\nos = "windows"\n', "task.toml:2: environment.os = 'windows'; allowed: linux"),
        (
            "task.toml",
            '[verifier]\nenvironment_mode = "separate"\n',
            "task.toml:2: verifier.environment_mode = 'separate'",
        ),
        ("task.toml", "[verifier.env]\nKEY = 'x'\n", "task.toml:1: verifier.env = {'KEY': 'x'} needs"),
        ("task.toml", '[[steps]]\nname = "a"\n', "task.toml:1: steps = [{'name': 'a'}] needs"),
        ("task.toml", "[task\n", "task.toml: not valid TOML"),
        (
            "tests/test.sh",
            "# curl is not used\npip install pytest\n",
            "test.sh:2: 'pip install pytest' needs the network",
        ),
        ("steps/a/instruction.md", "x", "steps: tasks of several steps have no counterpart"),
    ],
)
def test_a_harbor_task_that_needs_more_is_refused_with_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str, text: str, why: str
) -> None:
    """The file, the line that stands in the way and why; nothing is written."""
    lay(tmp_path / "doubled", {**HARBOR, file: text})
    assert bring("harbor", tmp_path / "doubled", tmp_path / "hb") == 1
    said = capsys.readouterr().out
    assert "refused  doubled: " in said
    assert why in said
    assert not (tmp_path / "hb").exists()


def test_a_task_that_is_there_already_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second import of a folder refuses and leaves the first as it is."""
    lay(tmp_path / "one", RERUN)
    assert [bring("rerun-bench", tmp_path / "one", tmp_path / "rb") for _ in range(2)] == [0, 1]
    assert "is there already; delete it or take another name" in capsys.readouterr().out


def test_a_format_that_is_not_known_names_the_known(tmp_path: Path) -> None:
    """The two formats are listed."""
    assert bring("other", tmp_path, tmp_path / "x") == 2
    with pytest.raises(UserError, match="known: harbor, rerun-bench"):
        from fairtrial import registry

        registry.load("fairtrial.authoring.importers", "other", what="format of tasks")


def test_new_task_refuses_names_that_are_not_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is allowed is said; a name that is taken is refused."""
    for name in ("one", "Suite/one", "a/b/c", "../x", "a/.b", "a/" + "x" * 65):
        assert command.main(["new-task", name, "--tasks-dir", str(tmp_path)]) == 2
        assert "is not SUITE/ID; each of them lower-case letters" in capsys.readouterr().err
    assert [command.main(["new-task", "a/b", "--tasks-dir", str(tmp_path)]) for _ in range(2)] == [0, 2]
    assert "is there already" in capsys.readouterr().err
