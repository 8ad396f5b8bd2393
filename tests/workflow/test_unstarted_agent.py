"""A paid agent program that cannot be started, in a whole run."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairtrial.capture.spend import ledger
from fairtrial.paths import Results

from tests.lab import Lab


@pytest.mark.parametrize("isolation", ["none", "auto"])
def test_a_program_that_cannot_be_started_is_a_fault_and_costs_nothing(tmp_path: Path, isolation: str) -> None:
    """Three faults with program and reason stop the pair; nothing is scored, spent or left reserved; status counts."""
    lab = Lab(tmp_path)
    program = tmp_path / "bin" / "good"
    program.parent.mkdir()
    program.write_text("#!/nowhere/python9\n")
    program.chmod(0o755)
    options = {"template": [str(program), "{prompt}"], "output": "none"}
    lab.harnesses["paid"] = {"adapter": "command", "network": "none", "options": options}
    spend = {"allow": True, "max_usd": 1.0, "per_attempt_usd": 0.10}
    lab.config.update(harnesses=["paid"], isolation=isolation, trace=[], repetitions=4, spend=spend)
    lab.write()
    done = lab.snakemake()
    assert done.returncode == 1
    faults = lab.faults()
    assert {fault["kind"] for fault in faults} == {"cli_missing"}
    assert len(faults) == 3
    assert f"{program} could not be started" in faults[0]["message"]
    assert "'#!/nowhere/python9'" in faults[0]["message"]
    assert "5 attempts not run: 3 attempts of this harness and model in a row ended in a fault" in done.stderr
    assert lab.graded() == []
    sums = ledger.balance(Results(lab.results), "default")
    assert (sums.counted, sums.running, sums.unknown) == (0, 0, 0)
