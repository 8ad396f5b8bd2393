"""Options of a rehearsal model (models.yaml: options): what they mean, and what is wrong with them."""

from __future__ import annotations

from typing import Any

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.schema import misfits

Json = dict[str, Any]
_COUNT: Json = {"type": "integer", "minimum": 0}
_FAULT: Json = {
    "type": "object",
    "properties": {
        "kind": {
            "enum": ["status", "refused", "cut", "delay"],
            "description": "an error status; nothing listens any more; the answer breaks off; it comes late",
        },
        "first": {"type": "integer", "minimum": 1, "description": "the model request it begins with; default 1"},
        "count": {"type": ["integer", "null"], "minimum": 1, "description": "how many; null: for ever; default 1"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "message": {"type": "string", "description": "default: as the provider words it"},
        "retry_after": {"type": "number", "minimum": 0, "description": "seconds, as a header"},
        "seconds": {"type": "number", "minimum": 0, "maximum": 3600, "description": "of a delay"},
    },
    "required": ["kind"],
    "additionalProperties": False,
}
SCHEMA: Json = {
    "type": "object",
    "properties": {
        "pass_probability": {"type": "number", "minimum": 0, "maximum": 1},
        "usage": {
            "type": "object",
            "description": "tokens of every answer; default: from the sizes of request and answer",
            "properties": dict.fromkeys(("input_uncached", "cache_read", "cache_write", "output", "reasoning"), _COUNT),
            "additionalProperties": False,
        },
        "faults": {"type": "array", "items": _FAULT},
        "seconds": {"type": "number", "minimum": 0, "maximum": 3600, "description": "before every answer"},
        "effort": {"type": "string"},
        "context": {"type": "integer", "minimum": 1},
        "output": {"type": "integer", "minimum": 1},
    },
    "additionalProperties": False,
}


def check(options: Json, where: str) -> None:
    """UserError with one line per mistake, each led by `where`."""
    said = [f"{where}: {line}" for line in misfits(options, SCHEMA, "options")]
    said += [f"{where}: options.faults.{at}: {line}" for at, line in ([] if said else _faults(options))]
    if said:
        raise UserError("\n".join(said))


def _faults(options: Json) -> list[tuple[int, str]]:
    said = []
    for at, fault in enumerate(options.get("faults", [])):
        if fault["kind"] == "status" and "status" not in fault:
            said.append((at, "kind status needs a status, 400 to 599"))
        if fault["kind"] == "delay" and "seconds" not in fault:
            said.append((at, "kind delay needs seconds"))
        if fault["kind"] == "refused" and fault.get("count") is not None:
            said.append((at, "kind refused lasts to the end; leave count out"))
    return said
