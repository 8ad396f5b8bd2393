"""One attempt outside a matrix, and agents that are any command."""

from __future__ import annotations

import csv
import hashlib
import json
import stat
from pathlib import Path

import pytest

from tests.lab import Lab

DATA = Path(__file__).resolve().parent.parent / "data" / "harness-samples" / "claude-json"
STUB = """\
#!/bin/sh
# Replays what Claude Code printed once, and edits the workspace.
printf '42\\n' > answer.txt
cat '{sample}/stdout'
cat '{sample}/stderr' >&2
exit $(cat '{sample}/exit')
"""


def tried(lab: Lab, *arguments: str, **environment: str):
    """Run `fairtrial try one` with the lab's suite."""
    return lab.fairtrial("try", "tiny/one", "--tasks-dir", "suites", *arguments, **environment)


def test_a_green_attempt_is_exit_0_and_one_row(lab: Lab) -> None:
    """The row is printed as JSON and appended to the CSV, whose header is written once."""
    for _ in range(2):
        done = tried(lab, "--harness", "reference", "--csv", "rows.csv")
        assert done.returncode == 0, done.stderr
        row = json.loads(done.stdout)
        assert (row["task_id"], row["outcome"], row["harness"]) == ("one", "green", "reference")
    rows = list(csv.DictReader((lab.folder / "rows.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 2
    assert rows[1] == row
    assert len(row) == 14
    assert row["notes"].startswith("agent_elapsed_s=")
    assert not (lab.results / "attempts").exists()


def test_a_red_attempt_is_exit_1(lab: Lab) -> None:
    """noop does nothing, so the start stays red."""
    done = tried(lab, "--harness", "noop")
    assert done.returncode == 1
    assert json.loads(done.stdout)["outcome"] == "red"


def test_a_script_beside_the_caller_is_refused_before_anything_starts(lab: Lab) -> None:
    """The agent starts in the workspace: the file is named with what to write; a script of the workspace runs."""
    script = lab.folder / "agent.py"
    script.write_text("open('answer.txt', 'w').write('42\\n')\n")
    done = tried(lab, "--agent-cmd", "python3 -B agent.py {prompt}")
    assert done.returncode == 2
    assert "--agent-cmd: agent.py is a file here" in done.stderr
    assert f"write {script}" in done.stderr
    assert not lab.results.exists()
    assert tried(lab, "--agent-cmd", f"python3 -B {script} {{prompt}}").returncode == 0
    (lab.folder / "suites" / "tiny" / "one" / "workspace" / "agent.py").write_text(script.read_text())
    assert tried(lab, "--agent-cmd", "python3 -B agent.py {prompt}").returncode == 0


def test_a_fault_is_exit_3_and_no_row(lab: Lab) -> None:
    """A program that is not there is no failure of the agent."""
    done = tried(lab, "--agent-cmd", "no-such-agent {prompt}", "--csv", "rows.csv")
    assert done.returncode == 3
    assert "no-such-agent is not on PATH" in done.stderr
    [fault] = lab.results.glob("tries/*/faults/*/*/*/*/*/r1/*/fault.json")
    shown = done.stderr.rpartition("evidence: ")[2].strip()
    assert (lab.folder / shown).resolve() == fault.parent.resolve(), "what was kept of it is named"
    assert "fault      cli_missing: " in lab.fairtrial("show", shown).stdout
    assert done.stdout == ""
    assert not (lab.folder / "rows.csv").exists()


def test_another_green_command_decides(lab: Lab) -> None:
    """--green-cmd takes the place of the task's own."""
    done = tried(lab, "--harness", "reference", "--green-cmd", "test -e other.txt")
    assert done.returncode == 1
    assert json.loads(done.stdout)["green_command"] == "test -e other.txt"


def test_an_unknown_placeholder_is_named(lab: Lab) -> None:
    """A typo in a template is refused with the known ones."""
    done = tried(lab, "--agent-cmd", "agent {promt}")
    assert done.returncode == 2
    assert "{promt}" in done.stderr
    assert "{prompt_file}" in done.stderr


AGENT = """\
import hashlib, json, sys
given = [a.encode("utf-8", "surrogateescape") for a in sys.argv[1:]] + [sys.stdin.buffer.read()]
open("answer.txt", "w").write("42\\n")
open("got.txt", "w").write(hashlib.sha256(max(given, key=len)).hexdigest())
"""
FILE_AGENT = """\
import hashlib, sys
open("answer.txt", "w").write("42\\n")
open("got.txt", "w").write(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())
"""
PROMPTS = {
    "200 KB": "".join(f"line {i:05d} of the task {{a}} ${{B}} `c`\n" for i in range(6000)) + "END",
    "leading dashes": "--help me -x",
    "braces, quotes and dollars": "{prompt} {model} {not} 'a' \"b\" $HOME $(id) `x` %s \\",
}


@pytest.mark.parametrize("template", ["{prompt}", "", "{prompt_file}"])
@pytest.mark.parametrize("case", PROMPTS)
def test_a_prompt_arrives_as_it_is(lab: Lab, case: str, template: str) -> None:
    """O14: as an argument, on standard input (also where an argument would be too long), as a file."""
    agent = lab.folder / "agent.py"
    agent.write_text(FILE_AGENT if template == "{prompt_file}" else AGENT)
    (lab.folder / "suites/tiny/one/prompt.md").write_text(PROMPTS[case])
    command = f"python3 -I {agent} {template}"
    done = tried(lab, "--agent-cmd", command, "--output", "none", "--network", "none")
    assert done.returncode == 0, done.stderr
    patch = next(lab.results.glob("tries/*/attempts/*/*/*/*/*/r1/workspace.patch")).read_text()
    assert hashlib.sha256(PROMPTS[case].encode()).hexdigest() in patch


# sample -> (exit code of try, outcome or fault kind, cost, turns)
CLAUDE = {
    "a_success": (0, "green", "0.02286", "4"),
    "c_turn_limit": (1, "agent_error+green", None, None),
    "e_401": (3, "no_events", None, None),
    "e_401_r0": (3, "auth", None, None),
}


@pytest.mark.parametrize("sample", CLAUDE)
def test_claude_print_reads_cost_turns_faults_and_caps(lab: Lab, sample: str) -> None:
    """A stub `claude` on PATH replays what the real one printed: API errors are faults, a turn cap is `budget`."""
    code, said, cost, turns = CLAUDE[sample]
    folder = lab.folder / "bin"
    folder.mkdir()
    stub = folder / "claude"
    for name in ("stdout", "stderr", "exit"):
        (folder / name).write_bytes((DATA / sample / name).read_bytes())
    stub.write_text(STUB.format(sample=folder))
    stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
    path = f"{folder}:{lab.environment()['PATH']}"
    done = tried(lab, "--harness", "claude-print", PATH=path, ANTHROPIC_API_KEY="sk-test-value")
    assert done.returncode == code, done.stderr
    if code == 3:
        fault = json.loads(next(lab.results.glob("tries/*/faults/**/fault.json")).read_bytes())
        assert fault["kind"] == said
        return
    row = json.loads(done.stdout)
    assert row["outcome"] == said
    if cost is not None:
        assert (row["cost_usd"], row["turns"]) == (cost, turns)
    result = json.loads(next(lab.results.glob("tries/*/attempts/*/*/*/*/*/r1/grades/*/result.json")).read_bytes())
    assert result["performance"]["execution"]["ending"] == ("completed" if code == 0 else "budget")
    everything = b"".join(p.read_bytes() for p in lab.results.rglob("*") if p.is_file())
    assert b"sk-test-value" not in everything


def test_a_last_line_of_json_gives_cost_and_turns(lab: Lab) -> None:
    """Any agent whose last line is an object with total_cost_usd and num_turns; without it both stay empty."""
    said = json.dumps({"total_cost_usd": 0.25, "num_turns": 7})
    script = lab.folder / "agent.py"
    script.write_text(f"open('answer.txt', 'w').write('42\\n')\nprint('working')\nprint({said!r})\n")
    row = json.loads(tried(lab, "--agent-cmd", f"python3 -I {script}", "--network", "none").stdout)
    assert (row["cost_usd"], row["turns"]) == ("0.25", "7")
    script.write_text("open('answer.txt', 'w').write('42\\n')\nprint('no numbers')\n")
    row = json.loads(tried(lab, "--agent-cmd", f"python3 -I {script}", "--network", "none").stdout)
    assert (row["cost_usd"], row["turns"], row["outcome"]) == ("", "", "green")
