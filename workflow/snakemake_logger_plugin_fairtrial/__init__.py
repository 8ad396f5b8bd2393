"""`snakemake --logger fairtrial`: only what a reader of an experiment wants, in place of Snakemake's own lines.

Snakemake finds this by its module's name. Errors and failed rules are one line each; the failed attempt's own words
come from its command, progress from fairtrial's line now and then. A dry run is printed as Snakemake prints it.
"""

from __future__ import annotations

import json
import logging
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

# The rule's own line, and fairtrial's last ones, say the same in a form for people.
_TOLD = ("CalledProcessError in file", "because a job execution failed", "At least one job did not complete")
NOT_RUN = ": not run: "  # as capture/attempt.py says it
_QUIET_RULES = frozenset({"attempt", "grade", "all"})  # too many of them for a line each


class LogHandler(LogHandlerBase):
    """Writes to standard error."""

    def __post_init__(self) -> None:
        """In a dry run what Snakemake says is what was asked for."""
        self._usual: logging.Handler | None = None
        if self.common_settings.dryrun or self.common_settings.verbose:
            from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter

            asked: Any = self.common_settings
            self._usual = ColorizingTextHandler(asked.nocolor, formatter=DefaultFormatter(asked.quiet))
            self._usual.addFilter(
                DefaultFilter(asked.quiet, asked.debug_dag, asked.verbose, asked.dryrun, asked.printshellcmds)
            )

    def emit(self, record: logging.LogRecord) -> None:
        """One record of Snakemake's."""
        if self._usual is not None:
            self._usual.handle(record)
            return
        text = line(record)
        if text:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    @property
    def writes_to_stream(self) -> bool:
        """It replaces Snakemake's own lines."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """The whole log stays in .snakemake/log."""
        return False

    @property
    def has_filter(self) -> bool:
        """It chooses by itself."""
        return True

    @property
    def has_formatter(self) -> bool:
        """It words by itself."""
        return True

    @property
    def needs_rulegraph(self) -> bool:
        """No."""
        return False


def _not_run(log: str) -> str | None:
    """Why an attempt did not start, by its own last line; None when it did: to Snakemake both have failed."""
    try:
        last = Path(log).read_text(encoding="utf-8", errors="replace").rstrip().rpartition("\n")[2]
    except OSError:
        return None
    _, mark, reason = last.partition(NOT_RUN)
    return reason if mark else None


def _report() -> str:
    """The command that prints the summary of this experiment, also when another one was run last."""
    name = json.loads(os.environ.get("FAIRTRIAL_STAGE") or "{}").get("name")
    return f"fairtrial report --name {shlex.quote(name)}" if name else "fairtrial report"


def line(record: logging.LogRecord) -> str | None:
    """What is printed for a record; None: nothing."""
    event = getattr(record, "event", None)
    rule = getattr(record, "rule_name", "")
    if event == LogEvent.JOB_ERROR:
        logs = list(getattr(record, "log", None) or ["none"])
        reason = _not_run(logs[0]) if rule == "attempt" else None
        said = "failed" if reason is None else f"not run: {reason}"
        return f"snakemake: rule {rule} {said}; log: {', '.join(logs)}"
    if event == LogEvent.GROUP_ERROR:
        return f"snakemake: a group of jobs failed: {record.getMessage()}"
    if event == LogEvent.JOB_INFO:
        said = getattr(record, "rule_msg", None)
        return f"snakemake: {said}" if said and rule not in _QUIET_RULES else None
    text = record.getMessage()
    if text.startswith("Nothing to be done"):
        return f"snakemake: nothing to be done, everything is there; `{_report()}` prints the summary again"
    told = any(said in text for said in _TOLD)
    return f"snakemake: {text.strip()}" if record.levelno >= logging.ERROR and not told else None
