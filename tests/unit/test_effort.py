"""A version-control script whose counters are known by hand, and each counter's edges."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from fairtrial.contracts.schema import schema
from fairtrial.grading import buckets, effort, vc
from fairtrial.grading.seen import Seen
from fairtrial.instruments.trace import reader
from hypothesis import given
from hypothesis import strategies as st

from tests import trace_rig as rig_module

DATA = Path(__file__).resolve().parents[1] / "data" / "trace"

GIT = vc.classes_for("git")
EVENTS = {"tool_calls": [], "model_events": 0, "turns": None, "final_text": None}
KINDS = ["compiled", "python"] if shutil.which("cc") or shutil.which("gcc") else ["python"]


def _evidence(**more):
    recipe = {"toolset": {"name": "git", "skills": []}}
    facts = {"trace": {"commands": ["git"]}, "snapshots": {}}
    return {"recipe": recipe, "instruments": facts, "process": {"exit_status": 0}, **more}


def _line(seq, argv, start=0, end=1, status=0, **more):
    row = {
        "schema_version": 3, "seq": seq, "span": f"s{seq}", "parent_span": None, "depth": 0, "command": argv[0],
        "argv": argv, "cwd": "/task", "started_ns": start, "ended_ns": end, "exit_status": status, "signal": None,
        "stdout_bytes": 10, "stderr_bytes": 0, "merged": False, "stdout_path": None, "stderr_path": None,
        "refused": False, "proven": True, "parent_is_main": False, "shlvl": True, "env_names": 20,
    }  # fmt: skip
    return {**row, **more}


def _call(command=None, kind="shell", **more):
    row = {
        "kind": kind, "command": command, "arguments": {"command": command}, "is_error": False, "exit_status": 0,
        "output_bytes": 5, "name": "bash",
    }  # fmt: skip
    return {**row, **more}


def _seen(trace=None, calls=None, **more):
    events = EVENTS if calls is None else {**EVENTS, "tool_calls": calls, "model_events": 1}
    evidence = more.pop("evidence", _evidence())
    return Seen(trace, buckets.buckets(trace or []), GIT, events, evidence, **more)


SCRIPT = """
git init -q .
git config user.name a; git config user.email a@b
echo 1 > f; git add f; git commit -q -m one
git status --short; git log --oneline | head -n 1
git show nosuchrev; git checkout nosuchbranch
git rev-parse --verify -q missing
git stash list; git branch; git branch topic; git -C . diff --stat
bash -c 'git status; git tag v1'
git log 2>/dev/null >/dev/null
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_script_is_counted_as_by_hand(tmp_path, kind):
    """Reads 8, writes 7, errors 3, selector failures 2, internal 2: counted by hand from the script."""
    rig = rig_module.Rig(tmp_path, ["git", "bash"], kind)
    rig.run(SCRIPT)
    rig.stop()
    folder = rig.stage.folder
    trace = reader.read(folder / "trace.jsonl")
    evidence = _evidence(instruments={"trace": rig.trace.facts()})
    seen = Seen(trace, buckets.buckets(trace), GIT, EVENTS, evidence, folder=folder)
    found = effort.effort(seen)
    # reads: status, log, show, rev-parse, stash list, branch, diff, log; writes: init, 2 config, add, commit,
    # checkout, branch topic; not counted: the two git commands inside bash -c
    assert (found["vc_reads"], found["vc_writes"]) == (8, 7)
    assert found["vc_errors"] == 3  # show, checkout, rev-parse
    assert found["selector_failures"] == 2  # rev-parse -q says nothing
    assert (found["commands"], found["commands_agent"], found["commands_internal"]) == (18, 16, 2)
    assert found["commands_platform"] == 0
    assert found["tool_calls"] is None and found["repeated_reads"] is None
    parts = effort.time_parts(seen)
    assert 0 <= parts["first_command_seconds"] < parts["first_mutation_seconds"]
    assert 0 < parts["vc_occupied_seconds"] <= parts["vc_summed_seconds"]
    told = buckets.record(trace, rig.trace.facts(), GIT)
    assert told["counts"] == {"task": 16, "platform": 0, "tool_internal": 2} and told["bypassed"] == 0
    assert {c["bucket"] for c in told["commands"]} == {"task", "tool_internal"}


def test_what_goes_past_the_shims_is_counted(tmp_path):
    """Two commits made with the real git show in the reflog and in no traced command."""
    rig = rig_module.Rig(tmp_path, ["git"], KINDS[0])
    rig.run("git init -q .; git config user.name a; git config user.email a@b; git commit -q --allow-empty -m seen")
    rig.run("for n in 1 2; do git commit -q --allow-empty -m unseen; done", shimmed=False)
    lines = rig.stop()
    assert rig.trace.facts()["repository"]["git"] == {"commit": 3}
    assert buckets.bypassed(lines, rig.trace.facts(), GIT) == 2
    assert buckets.bypassed(lines, {**rig.trace.facts(), "repository": {"git": None, "jj": None}}, GIT) is None


def test_the_counters_are_the_schemas_keys():
    """Every key of the effort section has one counter with a caption, and no counter is left over."""
    assert set(effort.counters()) == set(schema("result/effort")["properties"])
    assert all(caption.endswith(".") for caption in effort.captions().values())


def test_the_counters_are_documented():
    """docs/trace.md lists every counter with its caption; on failure paste what is expected between the markers."""
    page = (DATA.parents[2] / "docs" / "trace.md").read_text(encoding="utf-8")
    rows = [f"| `{name}` | {caption} |" for name, caption in effort.captions().items()]
    wanted = "\n".join(["<!-- counters -->", "| counter | what it is |", "|---|---|", *rows, "<!-- /counters -->"])
    assert wanted in page


def test_nothing_captured_is_null_never_zero():
    """Without trace, tool calls, diff and replay every counter is null."""
    assert set(effort.effort(_seen()).values()) == {None}
    assert set(effort.time_parts(_seen()).values()) == {None}


def test_no_call_in_an_attempt_that_shows_them_is_zero():
    """One turn without a tool call is a count of 0; several turns without one means they are not shown."""
    assert effort.effort(_seen(calls=[]))["tool_calls"] == 0
    several = Seen(None, {}, GIT, {**EVENTS, "model_events": 3, "turns": 3}, _evidence())
    assert effort.effort(several)["tool_calls"] is None


def test_an_untraced_program_gives_null_counts():
    """Where git was not on the box's PATH its counts are null, other commands are still counted."""
    evidence = _evidence(instruments={"trace": {"commands": ["rg"]}})
    found = effort.effort(_seen([_line(0, ["rg", "x"])], evidence=evidence))
    assert found["vc_reads"] is None and found["commands"] == 1


def test_probes_inner_and_refused_commands_stay_out_of_the_version_control_counts():
    """Only allowed task commands count as reads and writes."""
    probe = {"parent_is_main": True, "shlvl": False, "env_names": 20}
    trace = [
        _line(0, ["git", "status"], **probe),
        _line(1, ["git", "status"], parent_span="s0", depth=1),
        _line(2, ["python3", "x.py"]),
        _line(3, ["git", "commit"], parent_span="s2", depth=1),
        _line(4, ["git", "push"], refused=True, status=42),
        _line(5, ["git", "log"], **{**probe, "env_names": 3}),
        _line(6, ["git", "forged"], proven=False),
    ]
    seen = _seen(trace)
    assert seen.buckets == {
        "s0": "platform", "s1": "platform", "s2": "task", "s3": "tool_internal", "s4": "task", "s5": "task",
    }  # fmt: skip
    found = effort.effort(seen)
    assert (found["vc_reads"], found["vc_writes"], found["vc_errors"]) == (1, 0, 0)
    assert (found["commands"], found["commands_platform"], found["commands_internal"]) == (6, 2, 1)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (["git status", "git status"], 1),
        (["git status", "git status", "git status"], 2),
        (["git status", "ls", "git status"], 0),
        (["git log 'a'", "git log 'a'"], 0),
        (["git status; ls", "git status; ls"], 0),
        (["git commit", "git commit"], 0),
        (["git status", "git  status "], 1),
        (["git status", "git status -s"], 0),
        (["git show HEAD~1", "git show HEAD~1"], 1),
        (["git stash show stash@{0}", "git stash show stash@{0}"], 1),
        (["git log ~/x", "git log ~/x"], 0),
        (["git add {a,b}", "git diff {a,b}", "git diff {a,b}"], 0),
    ],
)
def test_repeated_reads_are_consecutive_standalone_unquoted_and_identical(calls, expected):
    """Any other tool call resets, and so do quotes, several commands in one call and other arguments."""
    assert effort.effort(_seen(calls=[_call(c) for c in calls]))["repeated_reads"] == expected


def test_a_repeat_in_another_folder_is_none():
    """The folder a call was given is part of what must be the same."""
    calls = [_call("git status", arguments={"workdir": w}) for w in ("/a", "/b", "/b")]
    calls.append(_call(None, kind="read"))
    assert effort.effort(_seen(calls=[*calls, calls[0]]))["repeated_reads"] == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git log --oneline | head -3", 0),
        ("git log | grep fix | wc -l", 1),
        ("git status && git diff | sed -n 1,5p; git log --format=%h | xargs -n1 git show | cut -c1-9", 2),
        ("grep git log.txt | awk '{print}'", 0),
        ("X=1 /usr/bin/git show HEAD:f | python3 -c 'import sys'", 1),
        ("git log 'unbalanced | grep", 0),
        ("git log 2>&1 | grep fix", 1),
        ("git log &>f; ls 2>&1 >/dev/null | grep f", 0),
        ("for f in $(git diff --name-only | grep py); do git log \\\n | cut -c1; done", 2),
        ("git commit -m '' | cat; git log --grep '' | sed p", 1),
    ],
)
def test_parser_calls_are_pipelines_from_version_control_into_a_parser(text, expected):
    """A parser elsewhere in the text, or fed by something else, is none."""
    assert effort.effort(_seen(calls=[_call(text)]))["parser_calls"] == expected


def test_retries_errors_and_bytes_of_tool_calls():
    """A failing command repeated at once is a blind retry; marked errors and seen bytes are summed."""
    failing = _call("make", exit_status=2)
    calls = [failing, failing, _call("ls"), failing, _call("make"), _call(None, kind="edit", is_error=True)]
    found = effort.effort(_seen(calls=calls))
    assert (found["blind_retries"], found["tool_errors"], found["tool_output_bytes"]) == (2, 4, 30)
    unknown = effort.effort(_seen(calls=[_call("x", is_error=None, exit_status=None, output_bytes=None)]))
    assert [unknown[key] for key in ("tool_errors", "tool_output_bytes", "blind_retries")] == [None] * 3


def test_the_green_command_is_found_in_calls_and_in_the_trace():
    """Inside a longer shell call, or as a traced command with its arguments."""
    check = "python3 -m unittest discover acceptance"
    said = _seen(calls=[_call("cd /task &&  python3 -m unittest  discover acceptance 2>&1 | tail")], check=check)
    ran = _seen([_line(0, check.split())], check=check)
    other = _seen([_line(0, ["python3", "x.py"])], calls=[_call("pytest")], check=check)
    assert [effort.effort(s)["green_checked"] for s in (said, ran, other, _seen(calls=[]))] == [True, True, False, None]


def test_what_neither_stream_nor_trace_could_show_is_null():
    """A green command of an untraced program, shell calls without their text, commands that were never seen to end."""
    traced = _seen([_line(0, ["git", "log"], end=None, status=None)], check="make check")
    assert effort.effort(traced)["green_checked"] is None
    assert effort.time_parts(traced)["vc_summed_seconds"] is effort.time_parts(traced)["vc_occupied_seconds"] is None
    silent = effort.effort(_seen(calls=[_call(None), _call(None, kind="edit")], check="make check"))
    assert silent["green_checked"] is silent["parser_calls"] is None and silent["tool_calls"] == 2
    git = effort.effort(_seen([_line(0, ["git", "log"])], check="git fsck"))
    assert git["green_checked"] is False


def test_skill_reads_are_calls_that_name_a_skill_file():
    """By the last two parts of the path; null where the toolset has no skill file."""
    evidence = _evidence()
    evidence["recipe"] = {"toolset": {"name": "git", "skills": [{"path": "skills/jj/SKILL.md", "mode": "file"}]}}
    calls = [
        _call("cat ~/.skills/jj/SKILL.md"),
        _call(None, kind="read", arguments={"path": "/h/jj/SKILL.md"}),
        _call("ls"),
    ]
    assert effort.effort(_seen(calls=calls, evidence=evidence))["skill_reads"] == 2
    assert effort.effort(_seen(calls=calls))["skill_reads"] is None


def test_signs_of_an_early_stop_are_listed():
    """Each sign stands for itself; none of them is acted on."""
    events = {
        **EVENTS,
        "tool_calls": [_call("make", exit_status=1)],
        "model_events": 2,
        "final_text": "I was unable to. Go on?",
    }
    evidence = _evidence(instruments={"snapshots": {"patch": {"bytes": 0, "files_changed": 0}}})
    found = effort.effort(Seen(None, {}, GIT, events, evidence))
    assert found["early_stop_signals"] == [
        "last_command_failed",
        "ends_with_a_question",
        "says_it_gave_up",
        "nothing_changed",
    ]
    assert found["empty_diff_exit_0"] is True and found["files_changed"] == 0 and found["lines_added"] is None


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)).map(lambda t: (t[0], t[0] + t[1]))))
def test_occupied_time_is_the_union_of_the_intervals(spans):
    """Every unit of time is counted once, however many commands ran in it."""
    covered = {n for start, end in spans for n in range(start, end)}
    assert effort.occupied(spans) == len(covered)


@pytest.mark.parametrize("row", (DATA / "git-classes.txt").read_text().splitlines())
def test_each_git_command_has_the_class_a_person_would_give_it(row):
    """Reads read, mutations change something, and options decide where the subcommand does not."""
    kind, text = row.split("\t")
    words = text.split()
    assert GIT.kind({"command": words[0], "argv": words}) == kind
    assert GIT.kind({"command": "ls", "argv": ["ls"]}) is None
