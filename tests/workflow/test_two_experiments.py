"""Two starts of Snakemake at the same time over the same attempts."""

from __future__ import annotations

import json
import subprocess

from tests.lab import Lab


def test_two_experiments_at_once_run_each_attempt_once(lab: Lab) -> None:
    """Other names, the same attempts: both end green, every agent was started once, nobody holds a lease."""
    lab.config.update(harnesses=[lab.counted(seconds=0.5)], trace=[])
    lab.write()
    runs: list[subprocess.Popen[bytes]] = [lab.start("--config", f"name={name}") for name in ("first", "second")]
    log = lab.folder / "snakemake.log"
    assert [run.wait(240) for run in runs] == [0, 0], log.read_text()
    assert lab.starts() == len(lab.seals()) == len(lab.graded()) == 4
    for name in ("first", "second"):
        report = json.loads((lab.results / name / "report" / "report.json").read_bytes())
        assert report, name
        assert (lab.results / name / "dataset" / "time-to-green.csv").read_text().count(",green,") == 4
    assert not list(lab.results.rglob("*.lease.json"))
    assert lab.faults() == []
