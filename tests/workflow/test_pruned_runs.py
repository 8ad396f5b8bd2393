"""Pruned attempts in the pipeline."""

from __future__ import annotations

import json
from pathlib import Path

from tests.lab import Lab


def test_a_pruned_attempt_is_never_run_again_and_can_be_graded_again(tmp_path: Path) -> None:
    """After `fairtrial prune` nothing is to do, -F starts no agent, and a changed verifier regrades what is left."""
    lab = Lab(tmp_path, ["one"], {"repetitions": 1})
    lab.config["harnesses"] = [lab.counted()]
    lab.write()
    assert lab.snakemake().returncode == 0
    seals = lab.seals()
    done = lab.fairtrial("prune")
    assert done.returncode == 0, done.stderr
    assert "no attempt is run again" in done.stdout or "0 attempts" in done.stdout
    assert lab.planned() == {}
    assert lab.snakemake("-F").returncode == 0
    verifier = tmp_path / "suites/tiny/one/verifier/verify.py"
    verifier.write_text(verifier.read_text() + "\n# another version\n")
    again = lab.snakemake()
    assert again.returncode == 0, again.stderr
    assert [result["outcome"] for result in lab.graded()] == ["green", "green"]
    assert lab.seals() == seals
    assert lab.starts() == 1
    assert lab.fairtrial("du").returncode == 0


def test_first_green_of_a_pruned_attempt_is_as_wide_as_what_is_left(tmp_path: Path) -> None:
    """The grade before keeps its narrow interval; another verifier finds start and end only, and says a wide one."""
    lab = Lab(tmp_path, ["one"], {"repetitions": 1})
    script = "sleep 1; echo wrong > answer.txt; sleep 0.5; echo 42 > answer.txt; sleep 2.5; echo more > notes.txt"
    options = {"template": ["sh", "-c", script], "output": "none"}
    lab.harnesses["slow"] = {"adapter": "command", "free": True, "network": "none", "options": options}
    lab.config["harnesses"] = ["slow"]
    lab.write()
    assert lab.snakemake().returncode == 0
    [before] = [result["performance"]["time_cost"]["first_green"] for result in lab.graded()]
    assert 0.9 < before["lower_seconds"] < before["upper_seconds"] < 3
    pruned = lab.fairtrial("prune")
    assert "1 attempt" in pruned.stdout, pruned.stdout
    verifier = tmp_path / "suites/tiny/one/verifier/verify.py"
    verifier.write_text(verifier.read_text() + "\n# another version\n")
    assert lab.snakemake().returncode == 0
    found = sorted((result["graded_at"], result["performance"]["time_cost"]) for result in lab.graded())
    assert found[0][1]["first_green"] == before
    after = found[1][1]["first_green"]
    assert after["lower_seconds"] < before["lower_seconds"]  # until then the start tree stood
    assert after["upper_seconds"] >= found[1][1]["seconds_to_green"] - 0.5 > 3
    assert after["snapshots"] == 2 < before["snapshots"]
    [record] = [json.loads(path.read_bytes()) for path in lab.results.glob("attempts/*/*/*/*/*/r1/pruned.json")]
    assert "first green cannot be replayed by another verifier" in " ".join(record["lost"])
