"""Money on a real SLURM node: endpoint, ledger, secrets, cancelled and killed jobs; and a node without bwrap."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fairtrial.capture.spend import ledger
from fairtrial.instruments.sandbox import backends
from fairtrial.paths import Results

from tests.lab import wait_until
from tests.slurm_rig import Charging, Cluster, Generic, Login, charging, idle, jobs

pytestmark = pytest.mark.cluster
SECRET = "sk-of-a-paid-node-0815"
ATTEMPTS = 6
DOLLARS = (1000 * 3.0 + 100 * 15.0) / 1e6  # of one attempt: one request at the frozen price
BOUND = 0.02
GROUPS = ("--group-components", "attempt=2", "--jobs", "2")
SUBMIT = """\
wrapped=$(mktemp -p {folder} job-XXXXXX)
printf '#!/bin/bash\\n%s\\n' "exec unshare --mount bash -c '{mounts}; exec bash $4'" > "$wrapped"
exec sbatch --parsable --no-requeue --export=ALL --output=/dev/null --time="$1" --mem="$2" -c "$3" "$wrapped"
"""
# Asks its model once, at the address and with the key that it was given, then works for a while.
AGENT = """\
import json, os, pathlib, time, urllib.request
body = json.dumps({"model": "m-1", "messages": [{"role": "user", "content": "?"}]}).encode()
headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["SOME_API_KEY"]}
ask = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
said = json.loads(urllib.request.urlopen(ask, timeout=20).read())
time.sleep(2)
pathlib.Path("answer.txt").write_text(said["choices"][0]["message"]["content"] + "\\n")
"""


@pytest.fixture(scope="module")
def provider() -> Iterator[Charging]:
    """A provider that charges for every request."""
    with charging() as server:
        yield server


def laboratory(folder: Path, provider: Charging) -> Cluster:
    """One task for an agent that pays for its one request, two attempts a submission."""
    lab = Login(folder, ["one"], {"repetitions": ATTEMPTS, "models": ["priced"], "harnesses": ["asker"]})
    (folder / "agent.py").write_text(AGENT)
    lab.harnesses["asker"] = {
        "adapter": "command", "network": "endpoint", "auth": "key", "key_env": "SOME_API_KEY",
        "options": {"template": ["python3", "-I", str(folder / "agent.py")], "output": "none"},
    }  # fmt: skip
    price = {"input": 3.0, "output": 15.0, "date": "2026-11-01"}
    lab.models["priced"] = {"id": "m-1", "base_url": provider.url, "price": price}
    lab.config["spend"] = {"allow": True, "max_usd": 1.0, "per_attempt_usd": BOUND}
    lab.write()
    return lab


def killed(lab: Cluster) -> None:
    """What a node that is taken away does: the runners of every attempt and their jobs end by SIGKILL."""
    for path in lab.results.glob("attempts/**/.*.lease.json"):
        os.kill(json.loads(path.read_bytes())["pid"], signal.SIGKILL)
    for job in jobs("RUNNING"):
        subprocess.run(["scancel", "--signal=KILL", "--full", job], check=True)


def cancelled(_: Cluster) -> None:
    """`scancel`, as a user or a scheduler that preempts does it: SIGTERM, and SIGKILL for what stays."""
    for job in jobs("RUNNING"):
        subprocess.run(["scancel", job], check=True)


def interrupted(lab: Cluster, provider: Charging, how: Callable[[Cluster], None]) -> dict[str, tuple[int, bytes]]:
    """Start, end every job while an agent works, wait for Snakemake; the seals there are then."""
    before, sealed = len(provider.keys), len(lab.seals())
    process = lab.start(*GROUPS)
    working = wait_until(lambda: len(provider.keys) > before and len(lab.seals()) > sealed, 120)
    assert working, (lab.folder / "snakemake.log").read_text()
    asked = len(provider.keys)
    assert wait_until(lambda: len(provider.keys) > asked, 60)  # the next one has just begun
    how(lab)
    assert wait_until(idle, 90) or process.poll() is None
    assert process.wait(120) == 1, (lab.folder / "snakemake.log").read_text()
    return lab.seals()


@dataclass
class Ran:
    """The finished laboratory, and the seals it had after each interrupted start."""

    lab: Cluster
    starts: int
    halves: list[dict[str, tuple[int, bytes]]]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, provider: Charging) -> Ran:
    """Six paid attempts in four starts: jobs cancelled, killed as by preemption, then Snakemake killed on its host."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOME_API_KEY", SECRET)
        lab = laboratory(tmp_path_factory.mktemp("paid"), provider)
        halves = [interrupted(lab, provider, how) for how in (cancelled, killed)]
        before = len(provider.keys)
        process = lab.start(*GROUPS)
        assert wait_until(lambda: len(provider.keys) > before, 120), (lab.folder / "snakemake.log").read_text()
        process.kill()  # what it submitted goes on
        process.wait(30)
        done = lab.snakemake(*GROUPS, timeout=300)
        assert done.returncode == 0, done.stderr[-4000:]
        return Ran(lab, len(provider.keys), halves)


def test_a_cancelled_or_preempted_job_is_redone_once_and_pays_once(ran: Ran) -> None:
    """Every attempt is sealed once and no sealed one starts again; a request more than attempts is a fault's."""
    seals = ran.lab.seals()
    assert len(seals) == ATTEMPTS
    assert len(ran.halves[0]) < len(ran.halves[1]) < ATTEMPTS
    for half in ran.halves:
        assert half.items() <= seals.items()
    assert len(ran.lab.faults()) >= 2
    assert ran.starts == ATTEMPTS + len(ran.lab.faults())
    assert not list(ran.lab.results.glob("attempts/**/.*.lease.json"))
    assert ran.lab.planned() == {}


def test_the_ledger_holds_what_results_and_faults_cost(ran: Ran) -> None:
    """Each attempt costs its one request; the ledger's known sum is that of results and faults, nothing stays open."""
    balance = ledger.balance(Results(ran.lab.results), "default")
    results = [result["performance"]["time_cost"]["cost_usd"] for result in ran.lab.graded()]
    assert results == pytest.approx([DOLLARS] * ATTEMPTS)
    faults = [fault["cost_usd"] for fault in ran.lab.faults()]
    assert balance.known == pytest.approx(sum(results) + sum(cost or 0 for cost in faults))
    assert (balance.open, balance.running, balance.unknown) == (0, 0, faults.count(None))
    assert balance.counted >= ran.starts * DOLLARS - 1e-9


def test_the_endpoint_meters_on_the_node(ran: Ran) -> None:
    """Requests of boxed agents reach the provider with their key, are counted, and say the model they saw."""
    import pyarrow.parquet as pq

    rows = pq.read_table(ran.lab.results / "default" / "dataset" / "requests.parquet").to_pylist()
    assert [(row["status"], row["model_observed"], row["input_uncached_tokens"], row["output_tokens"],
             row["simulated"]) for row in rows] == [(200, "seen-1", 1000, 100, False)] * ATTEMPTS  # fmt: skip
    assert all(row["cost_usd"] == pytest.approx(DOLLARS) for row in rows)
    isolation = [json.loads(content)["isolation"] for _, content in ran.lab.seals().values()]
    assert {(one["backend"], one["netns"]) for one in isolation} == {(backends.best()[0].kind, "endpoint")}


def test_the_key_is_in_no_script_and_in_no_file(ran: Ran, provider: Charging) -> None:
    """It reaches the provider, and stands in no submitted script, no log and nothing below the laboratory."""
    assert set(provider.keys) == {f"Bearer {SECRET}"}
    scripts = ran.lab.scripts()
    assert "snakemake" in scripts
    assert SECRET not in scripts
    for path in ran.lab.folder.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path


class WithoutBwrap(Generic):
    """A laboratory whose jobs find no bubblewrap: it is hidden from each of them by a mount of its own."""

    def command(self, *arguments: str) -> list[str]:
        """The command line with a submit command that wraps every job script."""
        hidden = self.folder / "empty"
        hidden.touch(mode=0o644)
        mounts = "; ".join(f"mount --bind {hidden} {path}" for path in backends.candidates())
        submit = self.folder / "submit.sh"
        submit.write_text(SUBMIT.format(folder=self.folder, mounts=mounts))
        given = f"bash {submit} {{resources.runtime}} {{resources.mem_mb}} {{threads}}"
        return [*super().command(*arguments), "--cluster-generic-submit-cmd", given]


def test_a_node_without_bubblewrap_is_degraded_and_said(tmp_path: Path) -> None:
    """The next best box is in force, evidence, table and report say so; `isolation: required` starts nothing there."""
    lab = WithoutBwrap(tmp_path, ["one"], {"harnesses": ["reference"], "repetitions": 2})
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr[-4000:]
    isolation = [json.loads(content)["isolation"] for _, content in lab.seals().values()]
    assert len(isolation) == 2
    assert all(one["backend"] in ("landlock", "plain") and one["degraded"] for one in isolation)
    assert [result["outcome"] for result in lab.graded()] == ["green"] * 2
    for name in ("index.html", "report.md", "summary.txt"):
        said = (lab.results / "default" / "report" / name).read_text(encoding="utf-8").replace("\\", "")
        assert "Degraded isolation of reference" in " ".join(said.split()), name
    lab.config |= {"isolation": "required", "name": "strict"}
    lab.write()
    done = lab.snakemake()
    assert done.returncode != 0
    assert len(lab.seals()) == 2
    logs = "".join(path.read_text(errors="replace") for path in lab.results.glob("logs/attempts/**/*.log"))
    assert "isolation: required cannot be had on this machine" in logs
