"""What a resume runs and what it leaves alone (O16), and what it makes anew because it is torn (O17)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from fairtrial.capture.spend import ledger
from fairtrial.paths import Results

from tests.lab import Lab, end_group, make_task, wait_until

# A stand-in for Claude Code that ends as the nine tasks of O16 do; with the file `hang` it says nothing at all.
PROGRAM = """\
#!{python} -I
import json, pathlib, sys, time
here = pathlib.Path({here!r})
if "--version" in sys.argv:
    print("2.1.197 (Claude Code)")
    sys.exit()
task = sys.stdin.read().partition("This is task ")[2][:2]
with (here / "starts.log").open("a") as log:
    log.write(task + "\\n")
if (here / "hang").exists():
    time.sleep(300)


def say(**record):
    print(json.dumps(record), flush=True)


usage = {{"input_tokens": 100, "output_tokens": 10}}
say(type="system", subtype="init", session_id="s", model="large", claude_code_version="2.1.197")
message = {{"id": "m1", "role": "assistant", "model": "large", "content": [], "usage": usage}}
say(type="assistant", message=message, session_id="s")
pathlib.Path("answer.txt").write_text("41\\n" if task in ("t2", "t6") else "42\\n")
if task == "t4":
    time.sleep(300)
if task == "t7":
    sys.exit(1)
end = {{"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "session_id": "s", "usage": usage,
       "result": "ok", "terminal_reason": "completed"}}
end["total_cost_usd"] = {{"t1": 0.11, "t2": 0.2, "t3": 0.04, "t5": 0.3, "t6": 0.5}}.get(task, 0.01)
if task == "t3" and not (here / "credit").exists():
    end.update(is_error=True, api_error_status=429, result="API Error: 429 rate limit reached")
if task == "t6":
    end.update(subtype="error_max_turns", is_error=True, terminal_reason="max_turns", result=None)
say(**end)
sys.exit(end["is_error"])
"""
BROKEN = """\
from pathlib import Path
from fairtrial.verify import Verification

v = Verification()


@v.check("answer")
def answer() -> None:
    if not Path({flag!r}).exists():
        raise RuntimeError("the verifier's machine is not there")
    v.equal((v.workspace / "answer.txt").read_text(), "42\\n", "answer.txt")


v.finish()
"""


FIRST = {"t1": "green", "t2": "red", "t4": "timeout", "t5": None, "t6": "agent_error", "t7": "agent_error"}


def nine(folder: Path) -> Lab:
    """Tasks t1..t9, one paid harness, one repetition."""
    lab = Lab(folder, tasks=[f"t{n}" for n in range(1, 10)])
    make_task(folder / "suites" / "tiny", "t4", wall=2)
    (folder / "suites" / "tiny" / "t5" / "verifier" / "verify.py").write_text(BROKEN.format(flag=str(folder / "flag")))
    program = folder / "claude"
    program.write_text(PROGRAM.format(python=sys.executable, here=str(folder)))
    program.chmod(0o755)
    lab.harnesses["agent"] = {"adapter": "claude", "network": "host", "options": {"bin": str(program)}}
    lab.config.update(harnesses=["agent"], repetitions=1, isolation="none", trace=[], spend={"allow": True})
    lab.write()
    return lab


def started(lab: Lab) -> list[str]:
    """Tasks whose agent was started, in order."""
    return (lab.folder / "starts.log").read_text().split()


def test_a_resume_runs_what_has_no_result_and_nothing_else(tmp_path: Path) -> None:
    """O16: t3 (rate limit), t8 and t9 (died, never ran) run; the sealed six keep every byte; no cent is forgotten.

    t7 ended by itself after it had worked: agent_error, a result. t5's verifier failed on the reference too: its
    result stays, a line names `fairtrial regrade`, which runs the verifier alone.
    """
    lab = nine(tmp_path)
    lab.config["tasks"] = [f"tiny/t{n}" for n in range(1, 8)]
    lab.write()
    first = lab.snakemake()
    assert first.returncode == 1
    assert "1 fault of agent x none: rate_limited" in first.stderr
    assert sorted(started(lab)) == ["t1", "t2", "t3", "t4", "t5", "t6", "t7"]
    assert {r["task"]: r["outcome"] for r in lab.graded()} == FIRST
    die_with_one_running(lab)
    before = files(lab)
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    assert sorted(started(lab)[8:]) == ["t3", "t8", "t9"]
    assert before.items() <= files(lab).items()
    results = {r["task"]: r for r in lab.graded()}
    assert {results[task]["outcome"] for task in ("t3", "t8", "t9")} == {"green"}
    assert results["t3"]["earlier_faults"] >= 1
    cents = 0.11 + 0.2 + 0.04 + 0.3 + 0.5 + 0.04 + 0.01 + 0.01
    assert ledger.balance(Results(lab.results), "default").known == pytest.approx(cents)
    the_verifier_alone_runs_again(lab, done.stderr)


def die_with_one_running(lab: Lab) -> None:
    """The machine goes down while the first of the two new tasks runs; afterwards the account has credit again."""
    lab.config["tasks"] = ["tiny"]
    lab.write()
    (lab.folder / "hang").touch()
    process = lab.start()
    assert wait_until(lambda: len(started(lab)) == 8)
    end_group(process, signal.SIGKILL)
    (lab.folder / "hang").unlink()
    (lab.folder / "credit").touch()


def the_verifier_alone_runs_again(lab: Lab, stderr: str) -> None:
    """t5: run and status name the command, which gives the verdict without an agent."""
    t5 = next(name for name in lab.seals() if "/t5/" in name).removeprefix("attempts/").removesuffix("/evidence.json")
    said = f"1 attempt unscored, as the verifier failed; once it works: fairtrial regrade {t5}"
    assert said in stderr
    assert f"grades  {said}" in lab.fairtrial("status").stdout
    (lab.folder / "flag").touch()
    again = lab.fairtrial("regrade", t5)
    assert "verdict was verifier_error, is passed" in again.stdout, again.stderr
    assert len(started(lab)) == 11
    assert lab.snakemake().returncode == 0
    assert "unscored" not in lab.fairtrial("status").stdout


def files(lab: Lab) -> dict[str, tuple[int, bytes]]:
    """Every file of the attempts: inode and content."""
    found = [path for path in lab.results.glob("attempts/**/*") if path.is_file() and not path.name.startswith(".")]
    return {str(path): (path.stat().st_ino, path.read_bytes()) for path in found}


TORN = {"half": b'{"schema_version": 1, "outcome": "gre', "empty": b"", "null": b"null\n", "none of ours": b"[1]\n"}


@pytest.mark.parametrize("kind", TORN)
def test_a_torn_result_is_graded_again_by_the_same_command(lab: Lab, kind: str) -> None:
    """Derived data: nothing has to be deleted by hand, and no agent runs."""
    lab.config.update(repetitions=1)
    lab.write()
    assert lab.snakemake().returncode == 0
    before = lab.seals()
    path = next(lab.results.glob("attempts/tiny/one/**/result.json"))
    whole = json.loads(path.read_bytes())
    path.write_bytes(TORN[kind])
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    assert "1 torn result graded again from sealed evidence" in done.stderr
    assert json.loads(path.read_bytes())["outcome"] == whole["outcome"] == "green"
    problems = json.loads((lab.results / "default" / "dataset" / "problems.json").read_bytes())["problems"]
    assert problems == []
    assert lab.seals() == before
    assert lab.planned() == {}


def test_a_torn_result_is_named_where_snakemake_has_nothing_to_do(lab: Lab) -> None:
    """Its time is what it was, so no rule runs; a dry run names it, and without it the same command grades again."""
    lab.config.update(repetitions=1)
    lab.write()
    assert lab.snakemake().returncode == 0
    path = next(lab.results.glob("attempts/tiny/one/**/result.json"))
    whole, times = path.read_bytes(), path.stat()
    path.write_bytes(whole[:200])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    for more in ((), ("-n",)):
        done = lab.snakemake(*more)
        assert "Nothing to be done" in done.stdout + done.stderr
        assert f"fairtrial: {path.relative_to(lab.folder)}: not whole." in done.stderr
    path.unlink()
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    assert "not whole" not in done.stderr
    assert json.loads(path.read_bytes())["outcome"] == json.loads(whole)["outcome"]


def test_a_torn_result_without_a_seal_is_run_anew_by_the_second_command(lab: Lab) -> None:
    """The first one that looks removes what decides nothing and says so."""
    lab.config.update(repetitions=1)
    lab.write()
    assert lab.snakemake().returncode == 0
    path = next(lab.results.glob("attempts/tiny/one/**/result.json"))
    for name in ("evidence.json", "sealed"):
        (path.parents[2] / name).unlink()
    path.write_bytes(path.read_bytes()[:100])
    first = lab.snakemake()
    assert "1 torn result without a seal removed; the same command runs them anew" in first.stderr
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    assert [r["outcome"] for r in lab.graded()] == ["green", "green"]
    assert lab.planned() == {}


@pytest.mark.parametrize("kind", ["recipes", "grades", "files"])
def test_what_is_lost_below_objects_names_the_command_that_freezes_it_again(tmp_path: Path, kind: str) -> None:
    """A frozen recipe, specification or file that is gone fails what needs it, and the commands it names mend that."""
    lab = Lab(tmp_path, tasks=["one"], config={"repetitions": 1})
    assert lab.snakemake().returncode == 0
    for folder in (lab.results / "objects" / kind, lab.results / "attempts"):
        shutil.rmtree(folder)
    failed = lab.snakemake()
    assert failed.returncode == 1
    assert "give the same snakemake command with --until plan --forcerun plan, then without" in failed.stderr
    assert lab.snakemake("--until", "plan", "--forcerun", "plan").returncode == 0
    assert lab.snakemake().returncode == 0
