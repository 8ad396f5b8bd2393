"""Reads aider (recorded with 0.86.2): text for people, and the local analytics log that launch.py asks for.

The log (no network involved) has exact counts per request and an `exit` event; without it counts are rounded to
"2.0k" and the end can only be guessed from the last report of usage. Requests on the side (commit messages, summaries)
are in neither, so its totals are a lower bound: where the endpoint was in the path its counts stand instead.
"""

from __future__ import annotations

import re
from typing import Any

from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.wire import ending, failure, get, jsonl, tokens
from fairtrial.wire.record import Record, finish

PARSER = 2
LOG = "aider-analytics.jsonl"  # the name under which launch.py has it collected
Json = dict[str, Any]

_VERSION = re.compile(rb"^Aider v(\S+)", re.MULTILINE)
_USAGE = re.compile(
    r"^Tokens: (?P<sent>[\d.]+k?) sent(?:, (?P<write>[\d.]+k?) cache write)?(?:, (?P<hit>[\d.]+k?) cache hit)?"
    r", (?P<received>[\d.]+k?) received\.(?:\s+Cost: \$(?P<cost>[\d.]+) message)?",
    re.MULTILINE,
)
_STARTUP = re.compile(
    r"^(?:Aider v|Model: |Git repo: |Repo-map: |Added .+ to the chat|https://aider\.chat/).*$", re.MULTILINE
)
_APPLIED = re.compile(r"^Applied edit to (.+)$", re.MULTILINE)
_ERROR = re.compile(r"^(litellm\.\w+: .+(?:\n\S.*)?)", re.MULTILINE)
_RETRYING = re.compile(r"^Retrying in [\d.]+ seconds", re.MULTILINE)


def read(streams: Streams) -> Json:
    """Raw bytes to the events record. Never raises."""
    record = Record("aider", PARSER)
    text = streams.stdout.decode("utf-8", "replace").replace("\r\n", "\n")
    record.lines = sum(1 for _ in jsonl.split(streams.stdout))
    version = _VERSION.search(streams.stdout)
    record.fields["cli_version"] = version.group(1).decode("utf-8", "replace") if version else None
    log = jsonl.read(streams.extra.get(LOG, b""))
    record.malformed = log.malformed
    sends = [_usage_of_log(line.value) for line in log.objects if line.value.get("event") == "message_send"]
    reports = list(_USAGE.finditer(text))
    usages = sends or [_usage_of_text(found) for found in reports]
    for usage, cost in usages:
        record.model_event()
        record.request(usage, cost)
    _answers(record, text, reports)
    _totals(record, usages, bool(sends))
    _end(record, text, log, reports)
    return record.done(streams.stderr)


def classify(events: Json, report: ProcessReport) -> Ending | FaultFound:
    """The ending, by the shared table: the exit status is 0 whatever happened."""
    return ending.classify(events, report)


def _usage_of_log(value: Json) -> tuple[tokens.Tokens, float | None]:
    sent, received = (
        get.count(value, "properties", "prompt_tokens"),
        get.count(value, "properties", "completion_tokens"),
    )
    return tokens.exclusive(sent, output=received), get.dollars(value, "properties", "cost") or None


def _usage_of_text(found: re.Match[str]) -> tuple[tokens.Tokens, float | None]:
    counts = {name: _rounded(found.group(name)) for name in ("sent", "hit", "write", "received")}
    usage = tokens.inclusive(counts["sent"], counts["hit"], counts["write"], counts["received"])
    return usage, _float(found.group("cost")) or None


def _rounded(text: str | None) -> int | None:
    value = _float(text.removesuffix("k")) if text else None
    if value is None or text is None:
        return None
    return round(value * 1000) if text.endswith("k") else round(value)


def _float(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if value < get.LARGEST / 1000 else None


def _answers(record: Record, text: str, reports: list[re.Match[str]]) -> None:
    """Text before each report of usage, and the edits it names; the start-up lines are left out."""
    begin = max((found.end() for found in _STARTUP.finditer(text[: reports[0].start()])), default=0) if reports else 0
    for report in reports:
        said = text[begin : report.start()].strip()
        record.say("assistant", said)
        record.fields["final_text"] = said or record.fields["final_text"]
        begin = report.end()
    for found in _APPLIED.finditer(text):
        call = record.call(None, "edit", {"path": found.group(1)})
        finish(call, None, is_error=False)


def _totals(record: Record, usages: list[tuple[tokens.Tokens, float | None]], exact: bool) -> None:
    record.fields["tokens"] = tokens.total(usage for usage, _ in usages)
    record.fields["turns"] = len(usages) or None
    costs = [cost for _, cost in usages]
    if costs and all(cost is not None for cost in costs):
        record.cost(sum(cost for cost in costs if cost is not None))
    if usages:
        record.fields["tokens_lower_bound"] = True
        what = "cached input is not told apart" if exact else "token counts are rounded by the program"
        record.warnings.append(what)


def _end(record: Record, text: str, log: jsonl.Lines, reports: list[re.Match[str]]) -> None:
    errors = list(_ERROR.finditer(text))
    for found in errors:
        record.retried(" ".join(found.group(1).split()))
    ended = [line for line in log.objects if line.value.get("event") == "exit"]
    last_usage = reports[-1].start() if reports else -1
    if errors and errors[-1].start() > last_usage:
        # Without a word of another try the error is the end of it.
        record.terminal = bool(ended) or not _RETRYING.search(text, errors[-1].end())
        message = record.errors.pop()["message"]
        record.warnings.pop()
        record.fail(message, kind="refused" if "Connection error" in message else failure.kind_of(None, message))
        record.fields["stop"] = record.fields["stop"] if record.terminal else "none"
    elif ended or (reports and not log.count):
        record.terminal = True
        record.fields["stop"] = "completed"
