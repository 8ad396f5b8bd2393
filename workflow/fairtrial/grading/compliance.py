"""The compliance section of result.json: what was seen to break a rule, apart from right and wrong."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from types import ModuleType

from fairtrial import registry
from fairtrial.contracts.protocols import Json

MOST = 500  # violations listed; the counts are of all
_LONGEST = 300
_FINDINGS = "fairtrial.grading.findings"


@cache
def findings() -> tuple[ModuleType, ...]:
    """Every rule's module."""
    return tuple(registry.load(_FINDINGS, name) for name in registry.names(_FINDINGS))


def violation(rule: str, detail: str, at_ns: int | None = None) -> Json:
    """One broken rule; `at_ns` from the start of the attempt. Bytes that were no UTF-8 are shown as ?."""
    text = detail[:_LONGEST].encode("utf-8", "replace").decode()
    return {"rule": rule, "detail": text, "at_seconds": None if at_ns is None else at_ns / 1e9}


def compliance(evidence: Json, trace: Sequence[Json] | None, events: Json, requests: Sequence[Json] | None) -> Json:
    """The section. A rule that could not be looked at is missing from `checked` and its count is null."""
    broken: list[Json] = []
    checked: list[str] = []
    counts: dict[str, int | None] = {}
    for rule in findings():
        found = rule.find(evidence, trace, events, requests)
        if rule.COUNTS:
            counts[rule.COUNTS] = None if found is None else len(found)
        if found is not None:
            checked.append(rule.RULE)
            broken += found
    broken.sort(key=lambda v: (v["at_seconds"] is None, v["at_seconds"] or 0.0))
    return {"violations": broken[:MOST] if checked else None, "checked": sorted(checked), **counts}
