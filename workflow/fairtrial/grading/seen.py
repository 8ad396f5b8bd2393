"""Everything effort counters look at, read once per grade."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import Json
from fairtrial.grading import buckets, vc
from fairtrial.instruments.trace import reader


@lean(frozen=True)
class Seen:
    """One attempt as it was captured. `trace` and `requests` None: not captured, which is not the same as empty.

    `check`: the visible green command; `first_green`: result.json's time_cost.first_green; `folder`: the attempt's.
    """

    trace: Sequence[Json] | None
    buckets: Mapping[str, str]
    classes: vc.Classes
    events: Json
    evidence: Json
    requests: Sequence[Json] | None = None
    folder: Path | None = None
    check: str | None = None
    first_green: Json | None = None

    @property
    def facts(self) -> Json:
        """The trace's entry in evidence.json."""
        found: Json = self.evidence["instruments"].get("trace") or {}
        return found

    def task_lines(self) -> list[Json] | None:
        """The agent's own commands, in their order; refused ones are among them."""
        if self.trace is None:
            return None
        return [line for line in self.trace if self.buckets.get(line["span"]) == "task"]

    def vc_lines(self) -> list[Json] | None:
        """The agent's version-control commands that were allowed to run; None when no such program was traced."""
        lines = self.task_lines()
        if lines is None or not set(self.facts.get("commands", [])) & set(self.classes.reads):
            return None
        return [line for line in lines if self.classes.covers(line) and not line["refused"]]

    def calls(self) -> list[Json] | None:
        """The model's tool calls; None when the stream does not show them.

        A stream of several turns, or one whose requests asked for tools, without a single call shows none of them.
        """
        found: list[Json] = self.events["tool_calls"]
        asked = any(request.get("tool_calls") for request in self.requests or ())
        if not found and (not self.events["model_events"] or (self.events["turns"] or 0) > 1 or asked):
            return None
        return found

    def shell_calls(self) -> list[Json] | None:
        """Those of them that are shell commands whose text is known; None when there are some and none is known."""
        calls = self.calls()
        shell = [call for call in calls or () if call["kind"] == "shell"]
        known = [call for call in shell if call["command"] is not None]
        return None if calls is None or (shell and not known) else known

    def output(self, line: Json) -> bytes | None:
        """The captured error output of a command, or its whole output where both went to one place."""
        if self.folder is None:
            return None
        return reader.output(self.folder, line, "stdout" if line["merged"] else "stderr")

    def patch(self) -> Json:
        """files_changed, lines_added, lines_removed, bytes of the difference; {} when there is none."""
        found: Json = (self.evidence["instruments"].get("snapshots") or {}).get("patch") or {}
        return found


def ends_known(calls: Sequence[Json]) -> bool:
    """The stream says of at least one of these tool calls whether it failed, or there are none."""
    return not calls or any(call["is_error"] is not None or call["exit_status"] is not None for call in calls)


def failed(call: Json) -> bool:
    """The stream says this tool call failed."""
    return bool(call["is_error"]) or call["exit_status"] not in (0, None)


def look(
    folder: Path | None, evidence: Json, events: Json, *, check: str | None = None, first_green: Json | None = None
) -> Seen:
    """Read trace and requests of the attempt in `folder` (None: none of it may be believed); classes by the toolset."""
    trace = reader.read(folder / "trace.jsonl") if folder else None
    return Seen(
        trace=trace,
        buckets=buckets.buckets(trace or []),
        classes=vc.classes_for(evidence["recipe"]["toolset"]["name"]),
        events=events,
        evidence=evidence,
        requests=_requests(folder / "requests.jsonl") if folder else None,
        folder=folder,
        check=check,
        first_green=first_green,
    )


def _requests(path: Path) -> list[Json] | None:
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    rows = []
    for line in raw.split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows
