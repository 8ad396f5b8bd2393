"""Model requests that did not come from the agent program's main process."""

from __future__ import annotations

from collections.abc import Sequence

from fairtrial.contracts.protocols import Json
from fairtrial.grading.compliance import violation

RULE = "foreign_requests"
COUNTS = "foreign_requests"


def find(
    evidence: Json, trace: Sequence[Json] | None, events: Json, requests: Sequence[Json] | None
) -> list[Json] | None:
    """Model requests that did not come from the agent program's main process. None: not captured."""
    known = [request for request in requests or () if request.get("main_process") is not None]
    if not known:
        return None
    foreign = [request for request in known if request["main_process"] is False]
    return [violation(RULE, request["path"], request["started_ns"]) for request in foreign]
