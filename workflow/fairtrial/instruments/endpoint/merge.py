"""What the endpoint saw, where the agent program said nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


def merged(events: Json, facts: Mapping[str, Any] | None) -> Json:
    """The events record with cost, turns, API time, model and (for a killed program) tokens from `facts`.

    `facts`: evidence.json's instruments.endpoint; None or {} when no endpoint was in the path. The program's own
    word comes first; a number that is only a lower bound gives way to a whole one.
    """
    if not facts or not facts.get("requests"):
        return events
    found = dict(events)
    for name in ("turns", "api_seconds", "model_observed"):
        if found[name] is None:
            found[name] = facts[name]
    if facts["kind"] == "rehearsal":
        found["cost_usd"] = found["cost_source"] = None  # some programs invent a price for a model they do not know
    if found["cost_usd"] is None and facts["cost_usd"] is not None:
        found["cost_usd"], found["cost_source"] = facts["cost_usd"], "endpoint"
    unsaid = all(count is None for count in found["tokens"].values())
    if (found["tokens_lower_bound"] or unsaid) and facts["tokens"]["output"] is not None:
        found["tokens"] = dict(facts["tokens"])
        found["tokens_lower_bound"] = facts["tokens_lower_bound"]
    return found
