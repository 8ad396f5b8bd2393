"""One planned attempt of a harness that costs two cents, for tests of what is reserved and settled."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairtrial.capture.settings import Settings
from fairtrial.contracts.records import load
from fairtrial.paths import AttemptId, Results

from tests.lab import Lab

SAID = '{"type":"result","subtype":"success","result":"ok","num_turns":1,"total_cost_usd":0.02,"usage":{"input_tokens":9,"output_tokens":3}}'  # noqa: E501
SETTINGS = Settings(allow=True, max_usd=1.0, per_attempt_usd=0.05, min_free_bytes=0)


def planned(folder: Path, monkeypatch: pytest.MonkeyPatch, repetitions: int) -> tuple[Results, AttemptId]:
    """Its results tree and its first repetition; the working directory is `folder` from then on."""
    lab = Lab(folder, tasks=["one"])
    options = {"template": ["sh", "-c", f"echo 42 > answer.txt; echo '{SAID}'"], "output": "claude-json"}
    lab.harnesses["paid"] = {"adapter": "command", "network": "none", "options": options}
    lab.config.update(harnesses=["paid"], isolation="none", trace=[], repetitions=repetitions)
    lab.write()
    done = lab.fairtrial("plan", "--write", "--configfile", "config.yaml")
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(folder)
    results = Results(Path("results"))
    [cell] = load(results.experiment("default").matrix)["cells"]
    return results, AttemptId("tiny", "one", "paid", "none", cell["recipe"], 1)
