"""What one start of Snakemake leaves for its attempts: that it lives, how to go on, a stop flag, who did not run."""

from __future__ import annotations

import hashlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import Path
from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.capture.spend.leases import identity, is_alive, read
from fairtrial.contracts.records import create
from fairtrial.paths import AttemptId, Results


def command_line(
    arguments: Sequence[str] | None = None, more: str | None = None, in_use: Sequence[str | Path] = ()
) -> str:
    """The command that was given, for a shell; `more`: a configuration file to add to it.

    in_use: configuration files of this run; those of a profile would give way to one on the command line.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if more is not None:
        end = words.index("--") if "--" in words else len(words)
        words = [*_with_configfile(words[:end], more, [str(path) for path in in_use]), *words[end:]]
    import shlex

    return shlex.join(["snakemake", *words])


def _with_configfile(words: list[str], more: str, in_use: list[str]) -> list[str]:
    """Snakemake takes the last --configfile only, so a further file joins the ones that are there."""
    out: list[str] = []
    for word in words:
        name, equals, value = word.partition("=")
        out += [name, value] if equals and name in ("--configfile", "--configfiles") else [word]
    places = [i for i, word in enumerate(out) if word in ("--configfile", "--configfiles")]
    if not places:
        return [*out, "--configfile", *in_use, more]
    end = places[-1] + 1
    while end < len(out) and not out[end].startswith("-"):
        end += 1
    return [*out[:end], *([] if more in out[places[-1] : end] else [more]), *out[end:]]


def announce(results: Results, settings: Settings) -> None:
    """Write down that this process runs an experiment, with which command, cap and price table."""
    more = {"command": command_line(), "max_usd": settings.max_usd, "prices": settings.prices}
    record = {**identity(f"experiment {settings.name}", settings.invocation), **more}
    create(results.invocation(settings.invocation) / "start.json", record)


def cap(results: Results, invocation: str) -> float | None:
    """spend.max_usd of an invocation; None without one."""
    return (read(results.invocation(invocation) / "start.json") or {}).get("max_usd")


def command_of(results: Results, invocation: str) -> str:
    """The command an invocation was started with; the same one continues it."""
    record = read(results.invocation(invocation) / "start.json") or {}
    return str(record.get("command", "snakemake --cores N"))


def stop(results: Results, invocation: str, reason: str) -> bool:
    """Let no further attempt of this invocation start; False when that was said before."""
    return create(results.invocation(invocation) / "stop.json", {"reason": reason})


def stop_reason(results: Results, invocation: str) -> str | None:
    """Why an invocation starts no further attempt at all; None when it was not told to stop."""
    flag = read(results.invocation(invocation) / "stop.json")
    return None if flag is None else str(flag.get("reason", "stopped"))


def halt(results: Results, settings: Settings, attempt_id: AttemptId, reason: str) -> str:
    """Let no further attempt of this harness and model start; the reason that counts, which is the first one given."""
    path = _halted(results, settings.invocation, attempt_id)
    create(path, {"harness": attempt_id.harness, "model": attempt_id.model, "reason": reason})
    return str((read(path) or {}).get("reason", reason))


def _halted(results: Results, invocation: str, attempt_id: AttemptId) -> Path:
    return results.invocation(invocation) / "halted" / f"{attempt_id.harness}--{attempt_id.model}.json"


def stopped(results: Results, settings: Settings, attempt_id: AttemptId) -> str | None:
    """Why no further attempt may start: the stop flag, its harness and model are halted, or its Snakemake is dead.

    Without the last, attempts that wait for a slot would start long after a SIGKILL of Snakemake.
    """
    folder = results.invocation(settings.invocation)
    flag = stop_reason(results, settings.invocation)
    if flag is not None:
        return flag
    pair = read(_halted(results, settings.invocation, attempt_id))
    if pair is not None:
        return str(pair.get("reason", "stopped"))
    started = read(folder / "start.json")
    here = started is not None and started.get("host") == os.uname().nodename
    if started is not None and here and not is_alive(started, folder / "start.json"):
        return f"its snakemake (process {started['pid']}) is gone"
    return None


def halted(results: Results, invocation: str) -> Callable[[AttemptId], str | None]:
    """Attempt -> why it will not start, by the flags as they stand now; None for all without any flag."""
    folder = results.invocation(invocation)
    flag = stop_reason(results, invocation)
    pairs = [record for path in sorted((folder / "halted").glob("*.json")) if (record := read(path))]
    reasons = {(pair.get("harness"), pair.get("model")): str(pair.get("reason", "stopped")) for pair in pairs}

    def why(attempt_id: AttemptId) -> str | None:
        if flag is not None:
            return flag
        return reasons.get((attempt_id.harness, attempt_id.model))

    return why


def not_run(results: Results, invocation: str, attempts: Sequence[AttemptId], reason: str) -> None:
    """Note attempts that were not started; they are neither results nor faults."""
    names = [str(attempt_id) for attempt_id in attempts]
    name = hashlib.sha256("\n".join([reason, *names]).encode()).hexdigest()[:16]
    record = {"attempts": names, "reason": reason}
    create(results.invocation(invocation) / "not-run" / f"{name}.json", record)


def all_not_run(results: Results, invocation: str) -> dict[str, int]:
    """Reason -> how many attempts of one invocation were not started for it."""
    return dict(sorted(Counter(_noted(results, invocation).values()).items()))


def _noted(results: Results, invocation: str) -> dict[str, str]:
    """Attempt -> why it was not started."""
    found: dict[str, str] = {}
    for path in sorted((results.invocation(invocation) / "not-run").glob("*.json")):
        record = read(path) or {}
        found |= {str(name): str(record.get("reason")) for name in record.get("attempts", ())}
    return found


def note_unreached(results: Results, invocation: str, planned: Sequence[str], faulted: Container[str]) -> None:
    """Note attempts that a flag kept from running and nobody asked: behind a refused one in the same cluster job."""
    why, noted = halted(results, invocation), _noted(results, invocation)
    found: dict[str, list[AttemptId]] = {}
    for name in planned:
        attempt_id = AttemptId.parse(name)
        reason = None if name in noted or name in faulted else why(attempt_id)
        if reason is not None and not results.attempt(attempt_id).evidence.exists():
            found.setdefault(reason, []).append(attempt_id)
    for reason, attempts in found.items():
        not_run(results, invocation, attempts, reason)


def newest(results: Results, name: str) -> str | None:
    """The invocation that ran an experiment last, of those whose flags are still there."""
    return max((start for start in _starts(results) if start[2] == name), default=("", None, ""))[1]


def last_run(results: Results) -> str | None:
    """The experiment that was run last; None without any run whose flags are still there."""
    return max(_starts(results), default=("", "", None))[2]


def prices(trees: Iterable[Results], name: str | None = None) -> dict[str, dict[str, Any]]:
    """Model -> price entry as the runs in these trees had it; of several the newest, of experiment `name` first.

    For what is made by hand, away from the configuration that named the models.
    """
    starts = [(one[2] == name, one, tree) for tree in trees for one in _starts(tree)]
    found: dict[str, dict[str, Any]] = {}
    for _, (_, own, _), tree in sorted(starts, key=lambda start: start[:2]):
        found |= (read(tree.invocation(own) / "start.json") or {}).get("prices") or {}
    return found


def _starts(results: Results) -> list[tuple[str, str, str]]:
    """(when, invocation, experiment) of each start of Snakemake."""
    found = []
    for path in (results.root / "invocations").glob("*/start.json"):
        record = read(path) or {}
        kind, _, experiment = str(record.get("attempt_id")).partition(" ")
        if kind == "experiment":
            found.append((str(record.get("started_at")), path.parent.name, experiment))
    return found
