"""Any hole in the table leaves nulls, never an exception, a NaN or an infinity."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from fairtrial.analysis import columns, compare, compare_versions, scorecard
from fairtrial.contracts import schema
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import attempt_frames as frames


@pytest.fixture(scope="module")
def whole() -> pd.DataFrame:
    arms = [("x", "m", 0.7), ("y", "m", 0.5), ("reference", "m", 0.9)]
    return frames.many(180, 6, arms, seed=4, changed_lines=True)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(0, 40), hole=st.sampled_from([0.0, 0.3, 0.9, 1.0]))
def test_holes(whole: pd.DataFrame, seed: int, rows: int, hole: float) -> None:
    """Random rows with random nulls, zeros and strange states give valid records."""
    rng = np.random.default_rng(seed)
    frame = whole.iloc[rng.choice(len(whole), rows, replace=False)].reset_index(drop=True)
    named = {"suite", "task", "harness", "model", "toolset", "adoption", "recipe", "repetition", "status", "simulated"}
    for name in set(columns.WANTED) - named - {"started_at"}:
        values = frame[name].to_numpy(dtype=object, na_value=None)
        values[rng.random(rows) < hole] = None
        if name in columns.NUMBERS:
            values[(rng.random(rows) < 0.1) & (values != None)] = 0  # noqa: E711
        frame[name] = pd.Series(values, dtype=object)
    states = np.array(["done", "done", "done", "fault", "not_run", "excluded", "problem"], dtype=object)
    frame["status"] = pd.Series(rng.choice(states, rows), dtype=object)
    frame["simulated"] = pd.Series(rng.choice(np.array([True, False, None], dtype=object), rows), dtype=object)
    card = scorecard.build(frame, None, {"k": [1, 3]})
    pairs, versions = compare.all_pairs(frame), compare_versions.versions(frame)
    for record, name in ((card, "scorecard"), (pairs, "comparison"), (versions, "comparison")):
        json.dumps(record, allow_nan=False)
        assert schema.problems(record, name) == []
    for row in card["arms"]:
        c = row["correctness"]
        if c["pass_rate"] is not None:
            assert c["if_unscored_failed"] <= c["pass_rate"] + 1e-12 <= c["if_unscored_passed"] + 2e-12
            assert c["these_low"] <= c["pass_rate_pooled"] <= c["these_high"]
