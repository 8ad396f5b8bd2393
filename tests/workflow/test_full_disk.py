"""A disk that is really full: a small tmpfs under results/."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fairtrial.capture.spend import ledger
from fairtrial.paths import Results

from tests.lab import Lab

SAID = (
    '{"type":"result","subtype":"success","is_error":false,"result":"ok","num_turns":1,"total_cost_usd":0.02,'
    '"usage":{"input_tokens":9,"output_tokens":3}}'
)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A folder whose results/ holds 8 MB."""
    results = tmp_path / "results"
    results.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(results)]
    if os.geteuid() != 0 or subprocess.run(mounting, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting a tmpfs needs root")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(results)], check=True)


@pytest.mark.root
def test_a_disk_without_any_room_refuses_to_start(small: Path) -> None:
    """Not one record fits: one line, exit code 2, no traceback, no agent; with room the same command goes on."""
    lab = Lab(small, tasks=["one"], config={"repetitions": 1, "capture": {"min_free_bytes": 0}})
    filler = lab.results / "filler"
    free = os.statvfs(lab.results)
    filler.write_bytes(bytes(free.f_bavail * free.f_bsize))
    done = lab.snakemake()
    assert done.returncode == 2, done.stderr
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "so far" not in done.stderr
    filler.unlink()
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr


@pytest.mark.root
def test_a_full_disk_loses_nothing_finished_and_the_same_command_goes_on(small: Path) -> None:
    """Full in the middle of everything: exit code 1, no half seal; with room the same command ends green."""
    lab = Lab(small, tasks=["one", "two"])
    options = {"template": ["sh", "-c", f"echo 42 > answer.txt; echo '{SAID}'"], "output": "claude-json"}
    lab.harnesses["paid"] = {"adapter": "command", "network": "none", "options": options}
    lab.config.update(harnesses=["paid"], isolation="none", trace=[], repetitions=1)
    lab.config.update(spend={"allow": True}, capture={"min_free_bytes": 0})
    lab.write()
    assert lab.fairtrial("plan", "--write", "--configfile", "config.yaml").returncode == 0
    filler = lab.results / "filler"
    free = os.statvfs(lab.results)
    filler.write_bytes(bytes(free.f_bavail * free.f_bsize - (64 << 10)))
    done = lab.snakemake()
    assert done.returncode == 1
    assert "No space left on device" in done.stdout + done.stderr
    before = lab.seals()
    filler.unlink()
    done = lab.snakemake()
    assert done.returncode == 0, done.stdout + done.stderr
    assert before.items() <= lab.seals().items()
    assert [r["outcome"] for r in lab.graded()] == ["green"] * 2
    sums = ledger.balance(Results(lab.results), "default")
    assert sums.running == 0
    assert sums.known >= 0.04 - 1e-9
