"""The table "Ending, verdict, outcome, fault" as one pure function. The exit code alone decides nothing.

Rows are tried from the top; the first whose condition holds gives the ending or the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast, get_args

from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import Ending, EndingName, FaultFound, FaultKind, ProcessReport
from fairtrial.wire import failure

Json = dict[str, Any]
FAULT_KINDS: frozenset[str] = frozenset(get_args(FaultKind))
_KIND_OF_ERROR: Mapping[str, FaultKind] = {
    "auth": "auth", "quota": "quota", "rate_limited": "rate_limited", "server_error": "server_error",
    "refused": "endpoint", "model": "other", "other": "other",
}  # fmt: skip
_CAPS = frozenset({"turn_cap", "token_cap", "usd_cap"})


@lean(frozen=True)
class Facts:
    """What the stream and our own clock say about one attempt."""

    interrupted: bool  # our own run was stopped
    stopped_by: str | None  # an instrument ended it, with its reason
    timed_out: bool  # our wall clock ended it
    lingered: bool  # we ended it after its final event
    exit_status: int | None
    signal: int | None
    stop: str  # what the stream says: completed, a cap, error, none
    terminal: bool  # a terminal event was seen
    model_events: int
    fatal: Json | None  # the error the stream ends with
    last_error: Json | None  # the last error of any kind

    @property
    def finished(self) -> bool:
        """The stream itself says the work was done."""
        return self.terminal and self.stop == "completed"

    @property
    def clean_exit(self) -> bool:
        """The program left by itself with status 0, or it was we who ended it."""
        return self.timed_out or self.lingered or (self.exit_status in (0, None) and self.signal is None)


def facts(events: Json, report: ProcessReport) -> Facts:
    """Typed facts from an events record and a process report."""
    errors = events["errors"]
    return Facts(
        interrupted=report.interrupted,
        stopped_by=report.stopped_by,
        timed_out=report.timed_out,
        lingered=report.lingered,
        exit_status=report.exit_status,
        signal=report.signal,
        stop=events["stop"],
        terminal=events["coverage"]["terminal_event"],
        model_events=events["model_events"],
        fatal=next((e for e in reversed(errors) if e["fatal"]), None),
        last_error=errors[-1] if errors else None,
    )


def classify(events: Json, report: ProcessReport) -> Ending | FaultFound:
    """The ending of a result, or the infrastructure fault that makes it none."""
    known = facts(events, report)
    return next(outcome(known) for holds, outcome in TABLE if holds(known))


def _ended(ending: EndingName, reason: Callable[[Facts], str]) -> Callable[[Facts], Ending | FaultFound]:
    return lambda f: Ending(ending, reason(f))


def _from_error(error: Json) -> FaultFound:
    kind = _KIND_OF_ERROR[error["kind"]]
    if kind == "auth" and failure.not_signed_in(error["message"]):
        kind = "not_logged_in"
    status = "" if error["status"] is None else f" (status {error['status']})"
    return FaultFound(kind, f"{error['message']}{status}")


def _stopped_fault(f: Facts) -> FaultFound:
    kind, _, message = (f.stopped_by or "").partition(":")
    return FaultFound(cast(FaultKind, kind), message.strip() or kind)


def _silent(f: Facts) -> FaultFound:
    error = f.fatal or f.last_error
    if error is not None and error["kind"] not in ("model", "other"):
        return _from_error(error)
    how = "our clock ended it" if f.timed_out else _exit(f)
    said = "" if error is None else f": {error['message']}"
    return FaultFound("no_events", f"the model never answered ({how}){said}")


def _exit(f: Facts) -> str:
    return f"signal {f.signal}" if f.signal is not None else f"exit status {f.exit_status}"


def _infrastructure(f: Facts) -> bool:
    """The stream ends in a failure that is not of the model's making; a clock that ran out first has the say."""
    return f.fatal is not None and f.fatal["kind"] != "model" and (f.terminal or not f.timed_out)


Row = tuple[Callable[[Facts], bool], Callable[[Facts], Ending | FaultFound]]
TABLE: tuple[Row, ...] = (
    (lambda f: f.interrupted, lambda f: FaultFound("interrupted", "stopped from outside before it ended")),
    (lambda f: (f.stopped_by or "").partition(":")[0] in FAULT_KINDS, _stopped_fault),
    (lambda f: f.stopped_by is not None, _ended("budget", lambda f: str(f.stopped_by))),
    (lambda f: f.stop in _CAPS, _ended("budget", lambda f: f.stop)),
    (lambda f: f.model_events == 0, _silent),
    (_infrastructure, lambda f: _from_error(f.fatal or {})),
    (lambda f: f.finished and f.clean_exit, _ended("completed", lambda f: "lingered" if f.lingered else "final event")),
    (lambda f: f.finished, _ended("agent_error", lambda f: f"final event, then {_exit(f)}")),
    (lambda f: f.timed_out, _ended("timeout", lambda f: "wall clock")),
    (lambda f: not f.terminal, _ended("agent_error", lambda f: f"no terminal event; {_exit(f)}")),
    (lambda f: True, _ended("agent_error", lambda f: f.fatal["message"] if f.fatal else f"ended in error; {_exit(f)}")),
)
