"""What one start of Snakemake leaves for its attempts: that it lives, how to go on, a stop flag, who did not run."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.capture.spend.leases import identity, is_alive, read
from fairtrial.contracts.records import create
from fairtrial.paths import AttemptId, Results


def command_line(arguments: Sequence[str] | None = None, more: str | None = None) -> str:
    """The command that was given, for a shell; `more`: a configuration file to add to it."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if more is not None:
        words = _with_configfile(words, more)
    return shlex.join(["snakemake", *words])


def _with_configfile(words: list[str], more: str) -> list[str]:
    """Snakemake takes the last --configfile only, so a further file joins the ones that are there."""
    out: list[str] = []
    for word in words:
        name, equals, value = word.partition("=")
        out += [name, value] if equals and name in ("--configfile", "--configfiles") else [word]
    places = [i for i, word in enumerate(out) if word in ("--configfile", "--configfiles")]
    if not places:
        return [*out, "--configfile", more]
    end = places[-1] + 1
    while end < len(out) and not out[end].startswith("-"):
        end += 1
    return [*out[:end], *([] if more in out[places[-1] : end] else [more]), *out[end:]]


def announce(results: Results, settings: Settings) -> None:
    """Write down that this process runs an experiment, with which command and cap."""
    more = {"command": command_line(), "max_usd": settings.max_usd}
    record = {**identity(f"experiment {settings.name}", settings.invocation), **more}
    create(results.invocation(settings.invocation) / "start.json", record)


def cap(results: Results, run: Mapping[str, Any] | None) -> float | None:
    """spend.max_usd of the invocation that holds an experiment's lock; None without one."""
    if run is None:
        return None
    return (read(results.invocation(str(run["invocation"])) / "start.json") or {}).get("max_usd")


def command(results: Results, settings: Settings) -> str:
    """The command that continues an experiment."""
    record = read(results.invocation(settings.invocation) / "start.json") or {}
    return str(record.get("command", "snakemake --cores N"))


def stop(results: Results, invocation: str, reason: str) -> None:
    """Let no further attempt of this invocation start."""
    create(results.invocation(invocation) / "stop.json", {"reason": reason})


def stopped(results: Results, settings: Settings) -> str | None:
    """Why no further attempt of this invocation may start: its stop flag, or its Snakemake is dead.

    Without the second, attempts that wait for a slot would start long after a SIGKILL of Snakemake.
    """
    folder = results.invocation(settings.invocation)
    flag = read(folder / "stop.json")
    if flag is not None:
        return str(flag.get("reason", "stopped"))
    started = read(folder / "start.json")
    here = started is not None and started.get("host") == os.uname().nodename
    if started is not None and here and not is_alive(started, folder / "start.json"):
        return f"its snakemake (process {started['pid']}) is gone"
    return None


def not_run(results: Results, settings: Settings, attempt_id: AttemptId, reason: str) -> None:
    """Note an attempt that was not started; it is neither a result nor a fault."""
    name = hashlib.sha256(str(attempt_id).encode()).hexdigest()[:16]
    record = {"attempt_id": str(attempt_id), "reason": reason}
    create(results.invocation(settings.invocation) / "not-run" / f"{name}.json", record)


def all_not_run(results: Results, invocation: str) -> list[dict[str, Any]]:
    """Every such note of one invocation."""
    return [json.loads(p.read_bytes()) for p in sorted((results.invocation(invocation) / "not-run").glob("*.json"))]
