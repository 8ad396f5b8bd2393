"""The recorder: what it believes, what it refuses, what it caps."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time

import pytest
from fairtrial.contracts.errors import UserError
from fairtrial.instruments.trace import policy, reader, shims, wire
from fairtrial.instruments.trace.records import Caps
from hypothesis import given
from hypothesis import strategies as st

from tests import trace_rig as rig_module

KINDS = ["compiled", "python"] if shutil.which("cc") or shutil.which("gcc") else ["python"]
START = b"S|c|span||0|git|5|9|8|7|6|1|12|oe|2|9|/task|git|push|".replace(b"|", b"\0")


def _rig(folder, kind, commands=("git", "bash", "cat", "head", "sleep", "python3"), **options):
    return rig_module.Rig(folder, list(commands), kind, **options)


def _connect(rig):
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    link.connect(str(rig.trace._short / "trace.sock" if rig.trace._short else rig.stage.scratch / "trace/trace.sock"))
    return link


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_says_what_happened_and_fits_its_schema(tmp_path, kind):
    """Arguments, folder, status, byte counts and captured copies are those of the command."""
    from fairtrial.contracts.records import validate

    rig = _rig(tmp_path, kind)
    rig.run(["bash", "-c", "git --version $'\\xff'; exit 0"], env=rig.environment())
    rig.run("git nosuch; kill -9 $$")
    lines = rig.stop()
    for line in lines:
        validate(line, "trace", "trace.jsonl")
    version = next(line for line in lines if line["argv"][1:2] == ["nosuch"])
    assert version["exit_status"] == 1 and version["proven"] and version["cwd"] == str(rig.stage.box.workspace)
    kept = reader.output(rig.stage.folder, version, "stderr")
    assert kept and b"nosuch" in kept and version["stderr_bytes"] == len(kept)
    assert 0 <= version["started_ns"] < version["ended_ns"]
    assert reader.read(rig.stage.folder / "trace.jsonl") == lines


@pytest.mark.parametrize("kind", KINDS)
def test_nested_commands_carry_their_parent(tmp_path, kind):
    """A command run by a traced command has its span as parent, even with an emptied environment."""
    rig = _rig(tmp_path, kind)
    inner = f"git --version; env -i {rig.shims}/git --version; (setsid {rig.shims}/cat < /dev/null)"
    rig.run(f"bash -c '{inner}'; git --version")
    lines = rig.stop()
    outer = next(line for line in lines if line["command"] == "bash")
    inside = [line for line in lines if line["parent_span"] == outer["span"]]
    assert {line["depth"] for line in inside} == {1} and len(inside) == 3
    assert outer["depth"] == 0 and outer["parent_span"] is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_policy_refuses_with_42_and_says_why(tmp_path, kind):
    """A forbidden command does not run, ends with 42 and one line, and is recorded as refused."""
    rules = {"refuse": [{"command": "git", "subcommands": ["push", "stash drop"], "why": "use jj"}]}
    rig = _rig(tmp_path, kind, refusals=rules)
    calls = ["git -C . -c a=b push x", "git stash drop", "git stash list", "bash -c 'git push'"]
    done = rig.run("".join(f"{call}; echo $?; " for call in calls))
    assert done.stdout == b"42\n42\n128\n42\n"
    assert done.stderr.count(b"`git push` is refused here: use jj\n") == 2
    refused = [line for line in rig.stop() if line["refused"]]
    assert len(refused) == 3 and {line["exit_status"] for line in refused} == {42}
    assert rig.trace.facts()["refused"] == 3


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_version_control_tool_calls_itself_is_not_refused(tmp_path, kind):
    """jj may call the git it was forbidden to replace."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "jj").write_text("#!/bin/sh\ngit --version\n")
    (tools / "jj").chmod(0o755)
    rules = {"refuse": [{"command": "git", "subcommands": [], "why": "use jj"}]}
    rig = _rig(tmp_path, kind, ["git", "jj"], refusals=rules, path=[str(tools)])
    done = rig.run("jj; git --version; echo $?")
    assert done.stdout.startswith(b"git version") and done.stdout.endswith(b"42\n")
    rig.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_a_forged_record_is_kept_and_marked(tmp_path, kind):
    """Another program that speaks to the recorder is recorded as not proven."""
    rig = _rig(tmp_path, kind)
    link = _connect(rig)
    link.send(START)
    assert link.recv(1) == b"k"
    link.send(b"E\0" + b"6\0" + b"0\0" * 6)
    link.close()
    rig.run("git --version")
    lines = rig.stop()
    assert [line["proven"] for line in lines] == [False, True]
    assert lines[0]["argv"] == ["git", "push"] and rig.trace.facts()["unproven"] == 1


@pytest.mark.skipif("compiled" not in KINDS, reason="no C compiler")
def test_becoming_the_shim_after_the_lie_does_not_prove_it(tmp_path):
    """A program that sends a record and then turns into the shim is not believed."""
    rig = _rig(tmp_path, "compiled")
    forger = (
        "import os,socket,sys\ns=socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\ns.connect(sys.argv[1])\n"
        "s.send(bytes.fromhex(sys.argv[2]))\nos.set_inheritable(s.fileno(), sys.argv[4]=='1')\n"
        "os.execve(sys.argv[3], ['git', '--version'], {})"
    )
    where = str(rig.trace._short / "trace.sock" if rig.trace._short else rig.stage.scratch / "trace/trace.sock")
    for inherit in "01":
        rig.run([sys.executable, "-c", forger, where, START.hex(), f"{rig.shims}/git", inherit])
    lines = rig.stop()
    assert len(lines) == 4
    assert [line["proven"] for line in lines if line["argv"] == ["git", "push"]] == [False, False]
    assert [line["proven"] for line in lines if line["argv"] == ["git", "--version"]] == [True, True]


def test_floods_are_capped_and_counted(tmp_path):
    """Silent connections, too many strangers and too much output cost nothing but a number."""
    rig = _rig(tmp_path, KINDS[0], caps=Caps(stream_bytes=1000, capture_bytes=1500, unproven=3))
    links = [_connect(rig) for _ in range(60)]
    junk = _connect(rig)
    junk.send(b"nonsense")
    done = rig.run("head -c 5000000 /dev/zero | cat | wc -c; git --version")
    assert done.stdout.split()[0] == b"5000000"
    time.sleep(2.5)
    for link in links[:5]:
        link.close()
    lines, facts = rig.stop(), rig.trace.facts()
    for link in (*links, junk):
        link.close()
    assert facts["dropped"] >= 60 and facts["capture_bytes"] <= 1500 and facts["capture_full"]
    assert all(line["output_truncated"] for line in lines if line["command"] in ("head", "cat"))
    assert {line["stdout_bytes"] for line in lines if line["command"] == "head"} == {5_000_000}


@pytest.mark.parametrize("kind", KINDS)
def test_the_hook_runs_before_the_caller_goes_on(tmp_path, kind):
    """At each command's end the hook is called and the caller waits for it; its tree id stands in the line."""
    seen = []

    def hook(span):
        seen.append((tmp_path / "workspace" / "f").exists())
        return f"tree-{len(seen)}"

    rig = _rig(tmp_path, kind, on_command_end=hook)
    rig.run("git --version; touch f; git --version; rm f; git --version")
    assert [line["snapshot"] for line in rig.stop()] == ["tree-1", "tree-2", "tree-3"]
    assert seen == [False, True, False]


def test_a_failing_hook_is_counted(tmp_path):
    """A hook that raises neither stops the command nor the recorder."""
    rig = _rig(tmp_path, KINDS[0], on_command_end=lambda span: 1 // 0)
    assert rig.run("git --version").returncode == 0
    assert [line["snapshot"] for line in rig.stop()] == [None]
    assert rig.trace.facts()["hook_failures"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_agent_program_itself_is_not_a_command(tmp_path, kind):
    """When the agent program is started through a shimmed interpreter, only what it runs is traced."""
    rig = _rig(tmp_path, kind)
    inner = 'import os;os.system("git --version")'
    code = f"import sys,os;sys.stdin.readline();os.execvp('python3',['python3','-c',{inner!r}])"
    agent = subprocess.Popen(
        [sys.executable, "-c", code], env=rig.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    rig.trace.start(rig.stage, agent.pid, time.monotonic_ns())
    out, _ = agent.communicate(b"\n", timeout=20)
    lines = rig.stop()
    assert out.startswith(b"git version") and [line["command"] for line in lines] == ["git"]
    assert lines[0]["depth"] == 0 and lines[0]["parent_is_main"] is False and rig.trace.facts()["main_runs"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_command_leaves_its_start(tmp_path, kind):
    """A command that never ends has no end, but its start and the output so far are kept."""
    rig = _rig(tmp_path, kind, ["bash"])
    process = subprocess.Popen(
        [f"{rig.shims}/bash", "-c", "echo early; sleep 30"], env=rig.environment(), stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"early\n"
    time.sleep(0.9)
    process.kill()
    process.communicate(timeout=5)
    line = rig.stop()[0]
    assert line["ended_ns"] is None and line["exit_status"] is None
    assert reader.output(rig.stage.folder, line, "stdout") == b"early\n"


def test_long_arguments_arrive_whole(tmp_path):
    """Arguments far larger than one message are recorded exactly."""
    rig = _rig(tmp_path, KINDS[0], ["env", "printf"])
    words = [f"word{n}" for n in range(40_000)]
    rig.run([f"{rig.shims}/env", "true", *words])
    assert rig.stop()[0]["argv"] == [f"{rig.shims}/env", "true", *words]


def test_shims_are_built_once_even_side_by_side(tmp_path):
    """Several attempts that build at once all get a working shim, and nothing half-written stays."""
    if "compiled" not in KINDS:
        pytest.skip("no C compiler")
    code = "import sys, pathlib; from fairtrial.instruments.trace.shims import compiled; "
    code += "print(compiled(pathlib.Path(sys.argv[1]))[0])"
    both = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) for _ in range(2)]
    built = {p.communicate()[0] for p in both}
    assert len(built) == 1 and len(list(tmp_path.iterdir())) == 1
    assert shims.compiled(tmp_path)[0] == next(iter(tmp_path.iterdir()))


def test_no_command_configured_means_no_trace(tmp_path):
    """Without commands nothing is placed and no file is written; stop is safe without prepare."""
    rig_stage = rig_module.stage(tmp_path, [])
    from fairtrial.instruments.trace.instrument import Trace

    trace = Trace()
    trace.stop(rig_stage)
    trace.prepare(rig_stage)
    trace.stop(rig_stage)
    assert trace.facts()["shim"] is None and not list(rig_stage.folder.iterdir()) and not rig_stage.box.binds


def test_a_policy_that_does_not_fit_on_lines_is_refused():
    """A tab in a rule is the user's mistake, told in one line."""
    with pytest.raises(UserError, match="tab"):
        policy.text([], "/s", cap=1, sync=False, policy={"refuse": [{"command": "git", "why": "a\tb"}]})


@given(st.binary(max_size=300))
def test_no_bytes_break_the_readers_of_messages(raw):
    """Anything may be sent; what is no message is a ValueError."""
    for read in (wire.read_start, wire.read_end):
        try:
            read(raw)
        except ValueError:
            continue


def test_torn_and_foreign_lines_are_left_out(tmp_path):
    """The reader keeps the good lines and tells a missing trace from an empty one."""
    path = tmp_path / "trace.jsonl"
    assert reader.read(path) is None
    good = json.dumps({"schema_version": 3, "span": "a"})
    path.write_text(good + '\n{"schema_version": 3, "span": \n' + '{"schema_version": 9, "span": "b"}\n\n[]\n' + good)
    assert [row["span"] for row in reader.read(path)] == ["a", "a"]


def test_an_invented_parent_is_counted(tmp_path):
    """A command that claims to run inside a command nobody traced is counted, and stands at depth 0."""
    rig = _rig(tmp_path, KINDS[0])
    rig.run("FAIRTRIAL_SPAN=1:invented:v:jj git --version")
    line = rig.stop()[0]
    assert (line["depth"], line["parent_span"]) == (0, None) and rig.trace.facts()["span_mismatch"] == 1
