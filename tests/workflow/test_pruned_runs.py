"""Pruned attempts in the pipeline."""

from __future__ import annotations

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
