"""Commands the toolset's policy forbids and the shim refused."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from fairtrial.contracts.protocols import Json
from fairtrial.grading.compliance import violation

RULE = "policy"
COUNTS = "policy_refusals"


def find(
    evidence: Json, trace: Sequence[Json] | None, events: Json, requests: Sequence[Json] | None
) -> list[Json] | None:
    """Commands the toolset's policy forbids and the shim refused. None: not captured."""
    if trace is None:
        return None
    refused = [line for line in trace if line["refused"] and line["proven"]]
    return [violation(RULE, shlex.join(line["argv"]), line["started_ns"]) for line in refused]
