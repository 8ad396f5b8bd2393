"""Server-sent events: writing them as providers do, and reading what passed through."""

from __future__ import annotations

import json
from typing import Any

from fairtrial.instruments.endpoint.turn import Json


def event(data: Json, name: str | None = None) -> bytes:
    """One event; with its name on a line of its own where the protocol has one."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def objects(body: bytes) -> list[Json]:
    """Every JSON object of an answer, streamed or whole; what is torn or no object is left out."""
    stripped = body.lstrip()
    if stripped[:1] in (b"{", b"["):
        whole = _parse(stripped)
        return [o for o in (whole if isinstance(whole, list) else [whole]) if isinstance(o, dict)]
    found = (_parse(line[5:]) for line in body.split(b"\n") if line.startswith(b"data:"))
    return [o for o in found if isinstance(o, dict)]


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
