"""The pipeline on a real SLURM node, driven by the shipped profile."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.lab import CHECKOUT, Lab, wait_until
from tests.slurm_rig import Cluster, Generic, asked, idle, jobs, refusals

pytestmark = pytest.mark.cluster
ATTEMPTS = 60
SECRET = "sk-not-for-any-script-4711"


def stable(lab: Lab) -> dict[str, list[dict[str, Any]]]:
    """Every table without the columns its schema marks volatile, as rows in their order."""
    import pyarrow.parquet as pq

    tables = {}
    for schema in sorted((CHECKOUT / "schemas" / "tables").glob("*.schema.json")):
        columns = json.loads(schema.read_bytes())["properties"]
        kept = [name for name, about in columns.items() if not about["x-volatile"]]
        name = schema.name.removesuffix(".schema.json")
        tables[name] = pq.read_table(lab.results / "default" / "dataset" / f"{name}.parquet", columns=kept).to_pylist()
    return tables


def experiment(kind: type[Lab], folder: Path) -> Lab:
    """5 tasks x 3 free harnesses x 4 repetitions in the default isolation."""
    folder.mkdir()
    tasks = [f"t{number}" for number in range(1, 6)]
    lab = kind(folder, tasks, {"harnesses": ["reference", "noop", "stand-in"], "repetitions": 4})
    lab.harnesses["stand-in"] = {"options": {"pass_probability": 0.6, "mean_seconds": 0.1}}
    lab.write()
    return lab


def test_a_killed_and_continued_matrix_gives_the_tables_of_a_local_one(tmp_path: Path) -> None:
    """SIGKILL of the submitting Snakemake half-way, the same command again: no attempt twice, the local dataset.

    Jobs of the killed one end FAILED only by an attempt that is not started because its Snakemake is gone. At the end
    no job, lease or scratch folder is left.
    """
    lab, before = experiment(Cluster, tmp_path / "cluster"), set(jobs())
    process = lab.start()
    assert wait_until(lambda: len(lab.seals()) >= ATTEMPTS // 2, 240), (lab.folder / "snakemake.log").read_text()
    process.kill()
    process.wait(30)
    half, orphans = lab.seals(), set(jobs()) - before
    assert len(half) < ATTEMPTS
    done = lab.snakemake(timeout=400)
    assert done.returncode == 0, done.stderr[-4000:]
    whole = lab.seals()
    assert len(whole) == ATTEMPTS
    assert half.items() <= whole.items()
    assert lab.planned() == {}
    assert wait_until(idle, 20)
    assert not [*lab.results.glob("attempts/**/.*.lease.json"), *(lab.results / "scratch").glob("*")]
    for job in orphans:
        assert asked(job, "JobState") == "COMPLETED" or all(" is gone" in line for line in refusals(job))
    local = experiment(Lab, tmp_path / "local")
    assert local.snakemake(timeout=400).returncode == 0
    here, there = stable(local), stable(lab)
    for name, rows in here.items():
        assert there[name] == rows, name
    evidence = [json.loads(content) for _, content in whole.values()]
    assert {e["isolation"]["backend"] for e in evidence} == {json.loads(c)["isolation"]["backend"]
                                                              for _, c in local.seals().values()}  # fmt: skip
    assert there["commands"], "no command was traced on the node"


def test_a_cancelled_job_is_done_once_more_and_no_sealed_attempt_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After scancel the same command redoes what was in flight; leases are gone and no script holds a secret."""
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    (tmp_path / "lab").mkdir()
    lab = Cluster(tmp_path / "lab", ["one"], {"repetitions": 8})
    lab.config["harnesses"] = [lab.counted(seconds=1.5)]
    lab.write()
    process = lab.start()
    assert wait_until(lambda: lab.starts() >= 1, 90), (lab.folder / "snakemake.log").read_text()
    for job in jobs("RUNNING"):
        assert asked(job, "TimeLimit") == "01:20:00"  # eight attempts in turn: wall budget and 5 minutes, 5 for a grade
        assert asked(job, "NumCPUs") == "1"
        assert asked(job, "Requeue") == "0"
        subprocess.run(["scancel", job], check=True)
    assert wait_until(idle, 60)
    assert process.wait(90) == 1
    cancelled, sealed = lab.starts(), lab.seals()
    done = lab.snakemake("--group-components", "attempt=4", timeout=200)  # two jobs beside each other take less long
    assert done.returncode == 0, done.stderr[-4000:]
    assert lab.starts() == cancelled + 8 - len(sealed)
    assert sealed.items() <= lab.seals().items()
    assert not list(lab.results.glob("attempts/**/.*.lease.json"))
    scripts = lab.scripts()
    assert "snakemake" in scripts
    assert SECRET not in scripts


def test_the_stop_flag_reaches_the_nodes(tmp_path: Path) -> None:
    """An arm that only faults is stopped on the cluster too: most of its jobs are never submitted."""
    (tmp_path / "lab").mkdir()
    before = len(jobs())
    settings = {"harnesses": ["stand-in"], "repetitions": 12, "faults": {"stop_after": 2, "retries": 0}}
    lab = Cluster(tmp_path / "lab", ["one"], settings)
    lab.harnesses["stand-in"] = {"options": {"fault_probability": 1.0}}
    lab.write()
    done = lab.snakemake("--group-components", "attempt=1", "--jobs", "2", timeout=240)
    assert done.returncode == 1
    assert 2 <= len(lab.faults()) < 5
    submitted = len(jobs()) - before
    assert len(lab.faults()) <= submitted < 5
    assert f"fairtrial: {12 - submitted} attempts will not start: 2 attempts of this harness" in done.stderr
    assert f"{12 - len(lab.faults())} attempts not run: 2 attempts of this harness and model in a row" in done.stderr
    assert {fault["invocation"] for fault in lab.faults()} == {lab.faults()[0]["invocation"]}
    assert not lab.seals()


def test_the_profile_for_any_scheduler_submits_groups(tmp_path: Path) -> None:
    """cluster-generic runs attempts and grades in one submission; a second start has nothing to do."""
    before = len(jobs())
    (tmp_path / "lab").mkdir()
    lab = Generic(tmp_path / "lab", ["one"], {"harnesses": ["reference"], "repetitions": 2})
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr[-4000:]
    assert [result["outcome"] for result in lab.graded()] == ["green"] * 2
    assert len(jobs()) == before + 1
    assert lab.planned() == {}
