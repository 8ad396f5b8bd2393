"""Whose command was it: the agent's (task), the agent program's own (platform), or another command's (tool_internal).

    platform       the parent is the agent program's main process, SHLVL is absent and the environment is not emptied
                   (more than three names): a probe of its own. Hole: a deliberate `exec env -u SHLVL git`.
    tool_internal  the nearest traced ancestor is a task command; below a probe, everything is the platform's
    task           everything else

Lines that are not proven are in no bucket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fairtrial.contracts.protocols import Json
from fairtrial.grading.vc import Classes, subcommand

VERSION = 1
EMPTIED = 3  # names in an environment that was emptied on purpose

# Which git commands write which kind of reflog entry; `many`: one command may write several.
_MANY = frozenset({
    "rebase", "am", "cherry-pick", "revert", "pull", "merge", "bisect", "stash", "filter-branch", "svn", "update-ref",
})  # fmt: skip
_WRITERS = {
    "commit": {"commit"},
    "checkout": {"checkout", "switch", "worktree", "branch"},
    "reset": {"reset"},
    "clone": {"clone"},
    "initial": {"init"},
    "Branch": {"branch"},
    "unnamed": {"symbolic-ref"},
}
_EACH = {"Branch": 2}  # entries one command writes, where it is not one
_BY_JJ = "export"  # jj's own entries in git's log: "export from jj"


def buckets(trace: Sequence[Json]) -> dict[str, str]:
    """The bucket of each proven line, by span."""
    by_span = {line["span"]: line for line in trace if line.get("proven")}
    known: dict[str, str] = {}
    for line in by_span.values():
        chain = []
        while line["span"] not in known:
            chain.append(line)
            above = by_span.get(line.get("parent_span") or "")
            if above is None or above in chain:
                known[line["span"]] = "platform" if is_probe(line) else "task"
                chain.pop()
            else:
                line = above  # noqa: PLW2901 - walk up to the first that is known
        for inner in reversed(chain):
            known[inner["span"]] = "platform" if known[inner["parent_span"]] == "platform" else "tool_internal"
    return known


def is_probe(line: Json) -> bool:
    """The agent program looked around by itself. An unknown parent is given to the agent."""
    return line.get("parent_is_main") is True and not line.get("shlvl") and (line.get("env_names") or 0) > EMPTIED


def bypassed(trace: Sequence[Json], facts: Json, classes: Classes) -> int | None:
    """How many changes the repository shows that no traced command explains. None: cannot be told.

    `facts`: the trace's entry in evidence.json. It compares kinds and counts of reflog entries (for jj: whether there
    are operations at all), so it is a lower bound: what left no entry is not seen.
    """
    changed = facts.get("repository") or {}
    found = None
    if changed.get("git") is not None and "git" in facts.get("commands", []):
        # What jj did is told by its operations, where jj is traced.
        entries = {a: n for a, n in changed["git"].items() if a != _BY_JJ or "jj" not in facts["commands"]}
        found = _unexplained(entries, trace, classes)
    if changed.get("jj") is not None and "jj" in facts.get("commands", []):
        seen = any(line["command"] == "jj" for line in trace if line.get("proven"))
        found = (found or 0) + (0 if seen else changed["jj"])
    return found


def _unexplained(entries: dict[str, int], trace: Sequence[Json], classes: Classes) -> int:
    calls = [subcommand(line["argv"]) for line in trace if line["command"] == "git" and line.get("proven")]
    verbs = Counter(words[0] for words in calls if words)
    if any(verb not in classes.known("git") for verb in verbs):
        return 0  # an alias may be any command, so nothing is surely unexplained
    many = sum(n for verb, n in verbs.items() if verb in _MANY)
    total = 0
    for action, count in entries.items():
        writers = _WRITERS.get(action, {action})
        explained = sum(n for verb, n in verbs.items() if verb in writers) * _EACH.get(action, 1)
        if not many:
            total += max(count - explained, 0)
    return total


def record(trace: Sequence[Json], facts: Json, classes: Classes) -> Json:
    """The content of trace-buckets.json: bucket and class of each command, counts, and what went past the shims."""
    found = buckets(trace)
    return {
        "schema_version": VERSION,
        "commands": [
            {"seq": line["seq"], "span": line["span"], "bucket": found.get(line["span"]), "vc": classes.kind(line)}
            for line in trace
        ],
        "counts": {name: sum(b == name for b in found.values()) for name in ("task", "platform", "tool_internal")},
        "unproven": sum(not line.get("proven") for line in trace),
        "bypassed": bypassed(trace, facts, classes),
    }
