"""The trace inside a real box: what PATH tricks cannot get past, and what the agent cannot reach."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from fairtrial.contracts.protocols import Bind
from fairtrial.grading.buckets import buckets
from fairtrial.instruments.sandbox import backends
from fairtrial.instruments.sandbox.run import run
from fairtrial.instruments.trace.instrument import Trace

from tests import trace_rig as rig_module

KINDS = ["compiled", "python"] if shutil.which("cc") or shutil.which("gcc") else ["python"]


def _run(folder: Path, kind: str, argv: list[str], commands=("git", "python3", "python"), binds=(), **options):
    if backends.best()[0].kind != "bwrap":
        pytest.skip("bubblewrap does not work here")
    stage = rig_module.stage(folder, list(commands))
    for source, target in binds:
        stage.box.binds.append(Bind(source, target))
        stage.box.path.append(f"{target}/bin")
    trace = Trace(cache=rig_module.CACHE, kind=kind, **options)
    trace.prepare(stage)
    stage.box.argv = argv
    report = run(
        stage.box, stage.budget, stdout=folder / "out", stderr=folder / "err", times=folder / "times",
        on_start=lambda pid, clock: trace.start(stage, pid, clock),
    )  # fmt: skip
    trace.stop(stage)
    lines = [json.loads(line) for line in (stage.folder / "trace.jsonl").read_text().splitlines()]
    return report, lines, trace.facts(), (folder / "out").read_bytes(), (folder / "err").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_login_shells_emptied_environments_and_absolute_paths_are_traced(tmp_path, kind):
    """None of the usual ways around PATH gets around the shim."""
    script = (
        "bash -lc 'git --version'; env -i git --version; /usr/bin/git --version; env -i /usr/bin/git --version; "
        "(setsid /usr/bin/git --version); PATH=/usr/bin git --version"
    )
    report, lines, facts, out, err = _run(tmp_path, kind, ["bash", "-c", script + "; true"])
    assert report.exit_status == 0, err
    assert out.count(b"git version") == 6 and facts["shim"] == kind and "/usr/bin/git" in facts["covered_paths"]
    assert [line["argv"][-1] for line in lines] == ["--version"] * 6 and all(line["proven"] for line in lines)
    assert all(line["exit_status"] == 0 and line["stdout_bytes"] == 19 for line in lines)
    assert not any("scratch" in path for line in lines for path in line["ancestors"])


@pytest.mark.parametrize("kind", KINDS)
def test_an_agent_that_is_a_python_program_is_no_command_and_its_probes_are_the_platforms(tmp_path, kind):
    """The agent's main process is left out; its direct call without a shell is a probe; its shell's calls are work."""
    agent = (
        "import os, subprocess, sys\n"
        "subprocess.run(['git', '--version'])\n"
        "subprocess.run(['bash', '-c', 'git status; true'])\n"
        "subprocess.run(['bash', '-c', 'true && git log'])\n"
        'inner = \'import subprocess as s; s.run(["git", "branch"])\'\n'
        "subprocess.run(['python3', '-c', inner], env={**os.environ, 'SHLVL': '1'})\n"
        "print(sys.executable, flush=True)\n"
    )
    _, lines, facts, out, err = _run(tmp_path, kind, ["python3", "-c", agent])
    found = {line["argv"][1]: buckets(lines)[line["span"]] for line in lines if line["command"] == "git"}
    assert found == {"--version": "platform", "status": "task", "log": "task", "branch": "tool_internal"}, err
    assert facts["main_runs"] == 1 and facts["unproven"] == 0 and b"/run/ft/shims" not in out
    assert [line["parent_is_main"] for line in lines][:2] == [True, False]


@pytest.mark.parametrize("kind", KINDS)
def test_the_agent_can_neither_delete_nor_forge(tmp_path, kind):
    """The folders are read-only, the recording is out of reach, a forged message is marked."""
    script = (
        "git --version; rm -rf /run/ft/trace /run/ft/shims; echo x > /run/ft/trace/config; : > /usr/bin/git; "
        "find / -name trace.jsonl 2>/dev/null; find / -name command-output 2>/dev/null; "
        "python3 - <<'P'\nimport socket\ns=socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        "s.connect('/run/ft/trace/trace.sock')\n"
        "s.send(b'S|c|x||0|git|5|9|8|7|6|1|12|oe|2|9|/task|git|push|'.replace(b'|', b'\\0'))\n"
        "s.recv(1)\nP\ngit --version"
    )
    _, lines, facts, out, _ = _run(tmp_path, kind, ["bash", "-c", script])
    assert b"trace.jsonl" not in out
    assert b"trace.jsonl" not in out and b"command-output" not in out
    assert [line["argv"][1:] for line in lines if not line["proven"]] == [["push"]] and facts["unproven"] == 1


def test_a_refusal_holds_inside_the_box(tmp_path):
    """A refused command ends with 42 whichever way it is called."""
    rules = {"refuse": [{"command": "git", "subcommands": ["push"], "why": "not here"}]}
    script = "git push; echo $?; env -i /usr/bin/git push; echo $?; bash -lc 'git push'; echo $?"
    _, lines, _, out, err = _run(tmp_path, KINDS[0], ["bash", "-c", script], refusals=rules)
    assert out == b"42\n42\n42\n" and err.count(b"not here") == 3
    assert [line["refused"] for line in lines] == [True] * 3


def test_a_missing_command_is_not_pretended(tmp_path):
    """A configured command the box does not have is not found inside either, and evidence says so."""
    script = "command -v no-such-tool; echo $?"
    _, _, facts, out, _ = _run(tmp_path, KINDS[0], ["bash", "-c", script], ["git", "no-such-tool"])
    assert out == b"1\n" and facts["missing"] == ["no-such-tool"] and facts["commands"] == ["git"]


@pytest.mark.parametrize("kind", KINDS)
def test_scripts_whose_interpreter_is_traced_too_run_once(tmp_path, kind):
    """A traced script run by a traced interpreter is one command and one inside it, whatever its first line says."""
    tools = tmp_path / "cli" / "bin"
    tools.mkdir(parents=True)
    for name, first in (("one", "/run/ft/bin/python3"), ("two", "/usr/bin/env python"), ("three", "/bin/sh")):
        body = (
            "git --version" if name == "three" else "import os, sys; print(os.path.basename(sys.argv[0]), sys.argv[1:])"
        )
        (tools / name).write_text(f"#!{first}\n{body}\n")
        (tools / name).chmod(0o755)
    commands = ["git", "python", "python3", "one", "two", "three"]
    script = "one a; two b; three c; /opt/cli/bin/one d; ln -s $(command -v python3) /tmp/py; /tmp/py -c 'print(5)'"
    _, lines, facts, out, err = _run(
        tmp_path, kind, ["bash", "-c", script + "; true"], commands, binds=[(tmp_path / "cli", "/opt/cli")]
    )
    assert out == b"one ['a']\ntwo ['b']\n" + out.splitlines(keepends=True)[2] + b"one ['d']\n5\n", err
    names = [(line["command"].rstrip("0123456789."), line["depth"]) for line in lines]
    assert names == [
        ("one", 0), ("python", 1), ("two", 0), ("python", 1), ("three", 0), ("git", 1), ("one", 0), ("python", 1),
        ("python", 0),
    ]  # fmt: skip
    assert facts["unproven"] == 0 and "/opt/cli/bin/one" in facts["covered_paths"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_virtual_environment_the_agent_makes_is_found_and_traced(tmp_path, kind):
    """Activated or called by its path, its Python knows whose it is, and each call is a command."""
    script = (
        "python3 -m venv --without-pip /tmp/v; . /tmp/v/bin/activate; python -c 'import sys; print(sys.prefix)'; "
        "python3 -c 'import sys; print(sys.executable)'; deactivate; "
        "/tmp/v/bin/python -c 'import sys; print(sys.prefix)'; true"
    )
    _, lines, facts, out, err = _run(tmp_path, kind, ["bash", "-c", script])
    assert out.splitlines() == [b"/tmp/v", b"/tmp/v/bin/python3", b"/tmp/v"], err
    assert len([line for line in lines if line["depth"] == 0]) == 4 and facts["unproven"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_command_without_room_for_a_shim_is_recorded_and_breaks_no_rule(tmp_path, kind):
    """With too few descriptors or no process left the command runs, and its start is proven all the same."""
    script = "for n in 4 5 7 9; do (ulimit -n $n; git --version); done; (ulimit -u 1; exec git --version); true"
    _, lines, facts, out, err = _run(tmp_path, kind, ["bash", "-c", script])
    assert out.count(b"git version") == 5, err
    assert lines and all(line["proven"] for line in lines) and facts["dropped"] == 0
