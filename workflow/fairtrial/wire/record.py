"""The events record while it is being filled: one tool call per id, however often the program reports on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fairtrial.wire import failure, jsonl, tokens, tools

Json = dict[str, Any]
S = TypeVar("S")
HEAD = 2000  # characters of a tool's output that are kept


class Record:
    """Fields of schemas/events.schema.json, with the bookkeeping that every reader needs."""

    def __init__(self, adapter: str, parser: int) -> None:
        self.fields: Json = {
            "schema_version": 1, "adapter": adapter, "parser": parser, "session_id": None, "model_observed": None,
            "cli_version": None, "turns": None, "cost_usd": None, "cost_source": None, "tokens": tokens.unknown(),
            "tokens_lower_bound": False, "api_seconds": None, "stop": "none", "model_events": 0, "final_text": None,
        }  # fmt: skip
        self.errors: list[Json] = []
        self.warnings: list[str] = []
        self.messages: list[Json] = []
        self.requests: list[Json] = []
        self.calls: dict[str, Json] = {}
        self.unknown: Counter[str] = Counter()
        self.terminal = False
        self.lines = 0
        self.malformed: list[int] = []

    def opened(self, lines: jsonl.Lines) -> None:
        """Coverage of a stream of JSON lines."""
        self.lines, self.malformed = lines.count, lines.malformed

    def follow(self, lines: jsonl.Lines, handlers: Mapping[str, Callable[[S, jsonl.Line], None]], stream: S) -> None:
        """Give every line to the handler of its `type`; types without one are counted as unknown."""
        self.opened(lines)
        for line in lines.objects:
            kind = line.value.get("type")
            handler = handlers.get(kind) if isinstance(kind, str) else None
            if handler is None:
                self.unknown[str(kind)] += 1
            else:
                handler(stream, line)

    def model_event(self) -> None:
        """Something only a working model can cause was seen."""
        self.fields["model_events"] += 1

    def say(self, role: str, text: str, at_ns: int | None = None) -> None:
        """One message; empty ones are dropped."""
        if text:
            self.messages.append({"order": len(self.messages), "role": role, "text": text, "at_ns": at_ns})

    def call(self, key: str | None, name: str, arguments: Any, command: str | None = None, **known: Any) -> Json:
        """The call with this id, made at its first report; later reports only fill what was open."""
        key = key or f"#{len(self.calls)}"
        kind = tools.kind(name)
        if kind == "shell" and command is None and isinstance(arguments, dict):
            said = arguments.get("command")
            command = said if isinstance(said, str) else None
        entry = self.calls.get(key)
        if entry is None:
            entry = {
                "id": None if key.startswith("#") else key, "order": len(self.calls), "name": name, "kind": kind,
                "command": command, "arguments": arguments, "started_ns": known.get("started_ns"), "ended_ns": None,
                "is_error": None, "exit_status": None, "output_bytes": None, "output_head": None, "complete": False,
            }  # fmt: skip
            self.calls[key] = entry
        return entry

    def result(
        self,
        key: str | None,
        output: str | None,
        *,
        is_error: bool | None,
        exit_status: int | None = None,
        at_ns: int | None = None,
    ) -> None:
        """The result of a call; one whose start was never reported is added, and said in the warnings."""
        entry = self.calls.get(key or "")
        if entry is None:
            self.warnings.append(f"a result without its tool call: {key}")
            entry = self.call(key, "unknown", None)
        finish(entry, output, is_error=is_error, exit_status=exit_status, at_ns=at_ns)

    def request(self, usage: tokens.Tokens, cost_usd: float | None = None, at_ns: int | None = None) -> None:
        """Usage of one model request."""
        self.requests.append({"order": len(self.requests), "tokens": usage, "cost_usd": cost_usd, "at_ns": at_ns})

    def fail(
        self, message: str, *, status: int | None = None, at_ns: int | None = None, kind: str | None = None
    ) -> None:
        """An error the program ends with, unless it is the metering endpoint's own refusal: then it is a cap."""
        cap = failure.cap_of(message)
        if cap is None:
            self.errors.append(failure.error(message, status=status, fatal=True, at_ns=at_ns, kind=kind))
            self.fields["stop"] = "error"
        else:
            self.fields["stop"] = cap

    def retried(self, message: str, *, status: int | None = None, at_ns: int | None = None) -> None:
        """An error the program goes on after; also a warning, so that a recovered attempt shows it."""
        self.errors.append(failure.error(message, status=status, fatal=False, at_ns=at_ns))
        self.warnings.append(message[:HEAD])

    def cost(self, dollars: float | None, source: str = "cli") -> None:
        """What the program says the whole attempt cost; null without a source when it does not say."""
        self.fields["cost_usd"] = None if dollars is None else round(dollars, 10)  # sums of floats
        self.fields["cost_source"] = None if dollars is None else source

    def done(self, stderr: bytes = b"") -> Json:
        """The finished record. Without a terminal event tokens are a lower bound and the cost is unknown.

        `stderr` is listened to only when the stream says nothing at all: then it holds the only reason there is.
        """
        if self.fields["model_events"] == 0 and not self.errors and (reason := failure.reason_in(stderr)):
            self.errors.append(failure.error(reason, fatal=True))
        if not self.terminal:
            self.fields["tokens_lower_bound"] = True
            self.cost(None)
        calls = list(self.calls.values())
        return {
            **self.fields,
            "errors": self.errors,
            "warnings": self.warnings,
            "coverage": {
                "terminal_event": self.terminal,
                "lines": self.lines,
                "malformed_lines": self.malformed,
                "incomplete_tool_results": sum(not call["complete"] for call in calls),
                "unknown_events": dict(sorted(self.unknown.items())),
            },
            "messages": self.messages,
            "tool_calls": calls,
            "requests": self.requests,
        }


def finish(
    entry: Json, output: str | None, *, is_error: bool | None, exit_status: int | None = None, at_ns: int | None = None
) -> None:
    """Fill a call with its result; a shell command that exits non-zero is an error whatever the program calls it."""
    entry["complete"] = True
    entry["ended_ns"] = at_ns
    entry["exit_status"] = exit_status
    entry["is_error"] = True if exit_status else is_error
    entry["output_bytes"] = None if output is None else len(output.encode())
    entry["output_head"] = None if output is None else output[:HEAD]


def texts(content: Any) -> str:
    """The text of a message or tool result: a string, or the `text` parts of a list, joined by newlines."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (p if isinstance(p, str) else p.get("text") if isinstance(p, dict) else None for p in content)
    return "\n".join(p for p in parts if isinstance(p, str))
