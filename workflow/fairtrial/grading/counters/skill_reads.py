"""Tool calls that name a skill file of the toolset."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

from fairtrial.contracts.protocols import Json
from fairtrial.grading.seen import Seen

CAPTION = (
    "Tool calls that name a skill file of the toolset. Null where the toolset has none; a program that "
    "loads skills by itself makes no call."
)


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    paths = [skill["path"] for skill in seen.evidence["recipe"]["toolset"]["skills"] if skill["mode"] != "dir"]
    calls = seen.calls()
    if calls is None or not paths:
        return None
    tails = ["/".join(PurePosixPath(path).parts[-2:]) for path in paths]
    return sum(any(tail in _text(call) for tail in tails) for call in calls)


def _text(call: Json) -> str:
    return f"{call['command'] or ''} {json.dumps(call['arguments'], ensure_ascii=False)}"
