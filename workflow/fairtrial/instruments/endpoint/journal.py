"""requests.jsonl: a line when a request begins and one when it ends; at the end one line a request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import BinaryIO

from fairtrial.contracts.records import write_bytes
from fairtrial.instruments.endpoint.turn import Json, no_tokens

MOST_OTHERS = 1000  # requests for nothing that a model does; what asks more often is counted


class Journal:
    """The requests of one attempt. Used from the endpoint's thread; `finish` after that has ended."""

    def __init__(self, path: Path, *, simulated: bool) -> None:
        self._path = path
        self._simulated = simulated
        self._stream: BinaryIO = path.open("wb", buffering=0)
        self.rows: list[Json] = []
        self.unlisted = 0
        self._others = 0

    def begin(self, *, wire: str, path: str, started_ns: int, request_bytes: int) -> Json:
        """Write the request down before it is answered: one that the end of the box cuts off is not lost."""
        row: Json = {
            "schema_version": 1,
            "order": len(self.rows),
            "wire": wire,
            "path": path,
            "started_ns": started_ns,
            "first_byte_ns": None,
            "ended_ns": None,
            "status": None,
            "model_requested": None,
            "model_observed": None,
            "tokens": no_tokens(),
            "cost_usd": None,
            "request_bytes": request_bytes,
            "response_bytes": None,
            "tool_calls": None,
            "refused": None,
            "fault": None,
            "retry_after_seconds": None,
            "main_process": None,
            "simulated": self._simulated,
        }
        self._others += wire == "other"
        if wire == "other" and self._others > MOST_OTHERS:
            self.unlisted += 1
            return row | {"order": None}
        self.rows.append(row)
        self.write(row)
        return row

    def write(self, row: Json) -> None:
        """Append the row as it is now, unless it is not listed."""
        if row["order"] is None:
            return
        self._stream.write(_line(row))

    def finish(self) -> None:
        """Leave one line a request, in their order."""
        self._stream.close()
        write_bytes(self._path, b"".join(map(_line, self.rows)), durable=False)


def _line(row: Json) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"
