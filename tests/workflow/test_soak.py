"""A long matrix under a hail of SIGKILLs ends as if nobody had touched it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from fairtrial.capture.spend import ledger
from fairtrial.contracts.records import load
from fairtrial.paths import Results

from tests.lab import Lab, wait_until

ATTEMPTS = {False: 100, True: 1000}
KILLS = {False: 20, True: 240}
USD, BOUND = 0.01, 0.05
RESULT = (
    '{"type":"result","subtype":"success","is_error":false,"result":"ok","num_turns":1,"total_cost_usd":0.01,'
    '"usage":{"input_tokens":9,"output_tokens":3}}'
)
# How often each kind of process is hit.
TARGETS = {"attempt": 5, "grade": 3, "snakemake": 2}


@pytest.mark.slow
def test_seeded_kills_lose_and_double_nothing(tmp_path: Path, soak: bool) -> None:
    """One valid result for each attempt, no process left, and a ledger that is the sum of results and faults."""
    marker = f"soak-{os.getpid()}-{random.getrandbits(40):x}"
    lab = paid_lab(tmp_path, marker, ATTEMPTS[soak])
    hail(lab, random.Random(20), KILLS[soak])
    for _ in range(3):
        done = lab.snakemake(timeout=6000)
        if done.returncode == 0:
            break
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
    each_has_one_valid_result(lab, ATTEMPTS[soak])
    nothing_is_left(lab, marker)
    the_ledger_is_the_sum(lab, ATTEMPTS[soak])
    assert lab.planned() == {}


def paid_lab(folder: Path, marker: str, attempts: int) -> Lab:
    """Four tasks, and an agent that costs a cent an attempt and says so."""
    lab = Lab(folder, tasks=["one", "two", "three", "four"])
    program = f": {marker}; sleep 0.2; printf '42\\n' > answer.txt; echo '{RESULT}'"
    options = {"template": ["sh", "-c", program], "output": "claude-json"}
    lab.harnesses["paid"] = {"adapter": "command", "network": "none", "options": options}
    lab.config.update(harnesses=["paid"], repetitions=attempts // 4, trace=[])
    lab.config["spend"] = {"allow": True, "max_usd": attempts * BOUND * 2, "per_attempt_usd": BOUND}
    lab.write()
    return lab


def hail(lab: Lab, chance: random.Random, kills: int) -> None:
    """Start the same command again and again while something is killed every few seconds."""
    process = lab.start()
    wait = 0.0
    while kills:
        time.sleep(max(0.0, wait))
        wait = chance.uniform(0.5, 3.0)
        target = chance.choices(list(TARGETS), list(TARGETS.values()))[0]
        stage = chance.choice(["attempt", "grade"]) if target == "snakemake" else target
        if not wait_until(lambda p=process, s=stage: p.poll() is not None or mine(lab, s), 120):
            break
        if process.poll() == 0:
            return
        if process.poll() is not None:
            process = lab.start()
        elif target == "snakemake":
            process.kill()
            process.wait(60)
            kills -= 1
        else:
            kills -= kill_one(lab, target, chance)
    process.kill()
    process.wait(60)


def kill_one(lab: Lab, verb: str, chance: random.Random) -> int:
    """SIGKILL to one of this lab's attempt or grade commands; how many were hit."""
    found = sorted(mine(lab, verb))
    if not found:
        return 0
    with contextlib.suppress(ProcessLookupError):
        os.kill(chance.choice(found), signal.SIGKILL)
    return 1


def mine(lab: Lab, verb: str) -> list[int]:
    """Processes of a stage command that work in this lab's folder."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if words[1:4] == [b"-m", b"fairtrial", verb.encode()] and (folder / "cwd").samefile(lab.folder):
                found.append(int(folder.name))
    return found


def each_has_one_valid_result(lab: Lab, attempts: int) -> None:
    """Every planned attempt is sealed once and graded once, green."""
    results = lab.graded()
    assert len(lab.seals()) == len(results) == attempts
    assert len({r["attempt_id"] for r in results}) == attempts
    assert {r["outcome"] for r in results} == {"green"}
    for path in lab.results.glob("attempts/*/*/*/*/*/r*/grades/*/result.json"):
        load(path, "result")


def nothing_is_left(lab: Lab, marker: str) -> None:
    """No agent, no stage command, no lease, no folder of a run."""
    assert wait_until(lambda: not mine(lab, "attempt") and not mine(lab, "grade"), 30)
    assert wait_until(lambda: subprocess.run(["pgrep", "-f", marker], check=False).returncode == 1, 30)
    assert list(lab.results.glob("attempts/**/.*.lease.json")) == []
    assert list(lab.results.glob("scratch/*")) == []


def the_ledger_is_the_sum(lab: Lab, attempts: int) -> None:
    """Each attempt was settled as a result once; all cents are those of results and faults; nothing is open."""
    tree = Results(lab.results)
    starts = [s for s in ledger.starts(tree.ledger("default")).values() if not s.released]
    paid = Counter(s.attempt_id for s in starts if s.settled and s.fault is None)
    assert set(paid.values()) == {1}
    assert len(paid) == attempts
    sums = ledger.balance(tree, "default")
    said = [r["performance"]["time_cost"]["cost_usd"] for r in lab.graded()] + [f["cost_usd"] for f in lab.faults()]
    assert sums.known == pytest.approx(sum(usd for usd in said if usd is not None))
    assert sums.known >= attempts * USD - ledger.SLACK
    assert (sums.running, sums.open) == (0, 0)
    assert sums.at_bound == pytest.approx(BOUND * sums.unknown)
    faults = lab.faults()
    assert len(faults) == len(starts) - attempts
    assert Counter(f["attempt_id"] for f in faults) == Counter(s.attempt_id for s in starts) - Counter(paid)
