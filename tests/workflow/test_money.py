"""Money as a Snakemake user meets it: the gate, the cap, faults and retries, slots and order, redo and exclude."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from fairtrial.capture.spend import ledger, progress
from fairtrial.paths import Results

from tests.lab import Lab, wait_until

# Costs two cents, notes when it starts and ends, and does what the file `say` beside it wants.
AGENT = """\
import json, pathlib, sys, time
here = pathlib.Path({here!r})
with (here / "starts.log").open("a") as log:
    log.write(json.dumps(["start", time.time()]) + "\\n")
time.sleep({seconds})
pathlib.Path("answer.txt").write_text("42\\n")
said = {{"type": "result", "subtype": "success", "is_error": False, "result": "ok", "num_turns": 1,
        "total_cost_usd": 0.02, "usage": {{"input_tokens": 100, "output_tokens": 10}}}}
for word in sorted(here.glob("say-*")):
    said = json.loads(word.read_text())
    word.unlink()
    break
print(json.dumps(said), flush=True)
with (here / "starts.log").open("a") as log:
    log.write(json.dumps(["end", time.time()]) + "\\n")
"""
LIMITED = {
    "type": "result", "subtype": "success", "is_error": True, "num_turns": 1, "total_cost_usd": 0.01,
    "result": "API Error: 429 rate limit reached, retry-after: 1", "usage": {"input_tokens": 100, "output_tokens": 0},
}  # fmt: skip


@pytest.fixture
def paid(tmp_path: Path) -> Lab:
    """Two tasks, two repetitions, one harness that costs money."""
    return paid_lab(tmp_path)


def paid_lab(folder: Path, seconds: float = 0.0, output: str = "claude-json", **config: object) -> Lab:
    """A lab with the agent above."""
    lab = Lab(folder)
    script = folder / "paid.py"
    script.write_text(AGENT.format(here=str(folder), seconds=seconds))
    options = {"template": [sys.executable, "-I", str(script)], "output": output}
    lab.harnesses["paid"] = {"adapter": "command", "network": "none", "options": options}
    lab.config.update(harnesses=["paid"], isolation="none", trace=[], **config)
    lab.write()
    return lab


def events(lab: Lab) -> list[tuple[str, float]]:
    """Every start and end of an agent."""
    log = lab.folder / "starts.log"
    return [tuple(json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []


def starts(lab: Lab) -> int:
    """How many agents were started."""
    return sum(kind == "start" for kind, _ in events(lab))


REFUSED = {
    "nothing said": ({}, "spend.allow is not true"),
    "a word": ({"spend": {"allow": "true"}}, "'true' is not of type boolean"),
    "a slip": ({"spend": {"alow": True}}, "alow"),
    "a comma": ({"spend": {"allow": True, "max_usd": "10,00"}}, "'10,00' is not of type number"),
    "a cap over nothing": ({"spend": {"allow": True, "max_usd": 10}}, "add spend.per_attempt_usd"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_gate_refuses_before_any_process(paid: Lab, name: str) -> None:
    """Exit code 2, one clear message, zero agents, nothing below results/attempts."""
    more, said = REFUSED[name]
    paid.config.update(more)
    paid.write()
    done = paid.snakemake()
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert starts(paid) == 0
    assert paid.seals() == {}


def test_an_override_on_the_command_line_is_no_permission(paid: Lab) -> None:
    """`--config spend=allow` is a text; a dry run needs no permission and counts what is missing."""
    done = paid.snakemake("--config", "spend=allow")
    assert done.returncode == 2
    assert "spend" in done.stderr
    assert starts(paid) == 0
    assert paid.planned()["attempt"] == 4


def test_the_printed_command_runs_it(paid: Lab) -> None:
    """allow-spend.yaml beside the configuration is the permission; the same command says it is done."""
    refused = paid.snakemake()
    assert "--configfile config.yaml allow-spend.yaml" in refused.stderr
    (paid.folder / "allow-spend.yaml").write_text("spend:\n  allow: true\n")
    done = paid.snakemake("--configfile", "config.yaml", "allow-spend.yaml")
    assert done.returncode == 0, done.stderr
    assert starts(paid) == 4
    assert ledger.balance(Results(paid.results), "default").known == pytest.approx(0.08)
    again = paid.snakemake()
    assert again.returncode == 0, "nothing is missing, so nothing has to be allowed"


def test_the_cap_stops_starting_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    """Two of four fit; the others are not run, which is no fault; the so-far report says 2 of 4."""
    spend = {"allow": True, "max_usd": 0.05, "per_attempt_usd": 0.02}
    lab = paid_lab(tmp_path, spend=spend)
    done = lab.snakemake()
    assert done.returncode == 1
    assert "attempts not run: the cap is reached: 0.04 USD spent" in done.stderr
    assert "to go on where this one stopped: snakemake" in done.stderr
    assert (starts(lab), lab.faults()) == (2, [])
    assert "2 of 4 attempts" in (lab.results / "default" / "so-far" / "report" / "report.md").read_text()
    spend["max_usd"] = 1.0
    lab.write()
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    assert starts(lab) == 4


def test_a_damaged_ledger_is_refused_and_goes_on_without_the_record(tmp_path: Path) -> None:
    """Exit code 2 names the file; moved away, its attempt is settled again from its seal and every cent is counted."""
    lab = paid_lab(tmp_path, spend={"allow": True}, repetitions=1)
    assert lab.snakemake().returncode == 0
    path = next(lab.results.glob("ledger/default/*/*-settle.json"))
    path.write_bytes(b"")
    lab.config["repetitions"] = 2
    lab.write()
    done = lab.snakemake()
    assert done.returncode == 2
    assert f"{path}: a ledger record that cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
    assert lab.fairtrial("status").returncode == 2
    path.unlink()
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    assert (starts(lab), lab.faults()) == (4, [])
    assert ledger.balance(Results(lab.results), "default").counted == pytest.approx(0.08)


def test_a_rate_limit_is_waited_out_and_leaves_its_trace(tmp_path: Path) -> None:
    """One fault with its cent and evidence, one more start after the pause, one seal that says so."""
    lab = paid_lab(tmp_path, spend={"allow": True}, tasks=["tiny/one"], repetitions=1)
    lab.config["faults"] = {"retries": 2, "backoff_seconds": 0.1}
    lab.write()
    (tmp_path / "say-1").write_text(json.dumps(LIMITED))
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    [fault] = lab.faults()
    assert (fault["kind"], fault["cost_usd"], fault["retry_after_seconds"]) == ("rate_limited", 0.01, 1)
    assert "agent-stdout.txt" in fault["files"]
    assert [r["earlier_faults"] for r in lab.graded()] == [1]
    moments = [at for kind, at in events(lab) if kind == "start"]
    assert moments[1] - moments[0] > 1
    assert ledger.balance(Results(lab.results), "default").known == pytest.approx(0.03)


def test_three_faults_in_a_row_stop_the_pair_and_the_next_run_goes_on(tmp_path: Path) -> None:
    """The program's own message, what to type, and every cent of the faults in the ledger."""
    lab = paid_lab(tmp_path, spend={"allow": True})
    for n in range(3):
        (tmp_path / f"say-{n}").write_text(json.dumps({**LIMITED, "result": f"429 rate limit, slow down, take {n}"}))
    done = lab.snakemake("--cores", "1")
    assert done.returncode == 1
    assert "3 attempts of this harness and model in a row ended in a fault: rate_limited" in done.stderr
    assert "slow down, take 2" in done.stderr
    assert starts(lab) == 3
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    assert starts(lab) == 7
    assert ledger.balance(Results(lab.results), "default").known == pytest.approx(3 * 0.01 + 4 * 0.02)


def test_a_killed_attempt_is_told_at_the_end_of_its_own_run(tmp_path: Path) -> None:
    """SIGKILL of one attempt: the others end, its reservation is settled at its bound, its fault has its evidence."""
    spend = {"allow": True, "max_usd": 1.0, "per_attempt_usd": 0.03}
    lab = paid_lab(tmp_path, seconds=2.0, spend=spend, repetitions=1)
    process = lab.start()
    assert wait_until(lambda: starts(lab) == 1)
    [(name, lease)] = progress.running(Results(lab.results)).items()
    os.kill(lease["pid"], signal.SIGKILL)
    assert process.wait(60) == 1
    assert f"interrupted: process {lease['pid']} on" in (tmp_path / "snakemake.log").read_text()
    [fault] = lab.faults()
    assert (fault["attempt_id"], fault["kind"], fault["cost_usd"]) == (name, "interrupted", None)
    sums = ledger.balance(Results(lab.results), "default")
    assert (sums.known, sums.at_bound, sums.open) == (0.02, 0.03, 0)
    assert "faults  1 so far" in lab.fairtrial("status").stdout
    assert lab.snakemake().returncode == 0
    assert (starts(lab), len(lab.faults())) == (3, 1)


def test_a_full_disk_is_a_fault_and_the_same_command_goes_on(tmp_path: Path) -> None:
    """Too little room stops before an agent starts; with room the same attempts run."""
    lab = paid_lab(tmp_path, spend={"allow": True}, repetitions=1, capture={"min_free_bytes": 1 << 60})
    done = lab.snakemake()
    assert done.returncode == 1
    assert "make room, then run again" in done.stderr
    assert {f["kind"] for f in lab.faults()} == {"disk"}
    assert starts(lab) == 0
    del lab.config["capture"]
    lab.write()
    assert lab.snakemake().returncode == 0
    assert starts(lab) == 2


def test_a_slot_serialises_and_repetitions_come_in_order(tmp_path: Path) -> None:
    """With one slot no two agents overlap on two cores; every first repetition starts before any second one."""
    lab = paid_lab(tmp_path, seconds=0.5, spend={"allow": True}, slots={"paid": 1})
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    assert [kind for kind, _ in events(lab)] == ["start", "end"] * 4
    records = [json.loads(content) for _, content in lab.seals().values()]
    order = [r["repetition"] for r in sorted(records, key=lambda r: r["started_at"])]
    assert order == [1, 1, 2, 2]
    assert list(lab.results.glob("slots/*/*.json")) == []


def test_status_and_tail_follow_a_run_from_another_shell(tmp_path: Path) -> None:
    """Status names what runs, tail shows what it prints until it ends."""
    lab = paid_lab(tmp_path, seconds=6.0, spend={"allow": True}, tasks=["tiny/one"], repetitions=1)
    process = lab.start()
    assert wait_until(lambda: starts(lab) == 1)
    said = lab.fairtrial("status").stdout
    assert f"run by process {process.pid}" in said
    assert "now     tiny/one/paid/none/" in said
    tail = lab.fairtrial("tail")
    assert '"total_cost_usd": 0.02' in tail.stdout
    assert tail.stderr.rstrip().endswith("sealed")
    assert process.wait(60) == 0
    said = lab.fairtrial("status").stdout
    assert "default: 1 of 1 attempt done; not running" in said
    assert "money   0.02 USD spent" in said
    assert "last    one paid none r1 green" in said


def test_redo_and_exclude_need_a_reason_and_stand_in_the_report(tmp_path: Path) -> None:
    """Both costs count; the reasons are listed; an attempt left out is in no statistic."""
    lab = paid_lab(tmp_path, spend={"allow": True}, repetitions=1)
    assert lab.snakemake().returncode == 0
    one, two = sorted(name.removeprefix("attempts/").removesuffix("/evidence.json") for name in lab.seals())
    assert lab.fairtrial("redo", one, "--reason", " ").returncode == 2
    assert lab.fairtrial("exclude", two).returncode == 2
    redone = lab.fairtrial("redo", one, "--reason", "the machine slept")
    assert "it had cost 0.0200 USD; the next run pays for it again" in redone.stdout
    assert lab.fairtrial("exclude", two, "--reason", "a person helped").returncode == 0
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    assert starts(lab) == 3
    report = (lab.results / "default" / "report" / "report.md").read_text()
    assert "the machine slept" in report
    assert "a person helped" in report
    assert ledger.balance(Results(lab.results), "default").known == pytest.approx(0.06)
    assert (lab.results / "redone" / one).is_dir()
    assert lab.fairtrial("exclude", two, "--reason", "a person did all of it").returncode == 0
    assert lab.snakemake().returncode == 0
    assert "a person did all of it" in (lab.results / "default" / "report" / "report.md").read_text()
