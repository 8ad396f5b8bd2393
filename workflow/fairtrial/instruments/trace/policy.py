"""The text a shim reads when it starts: where the recorder listens, what stands behind each name, what is refused.

    fairtrial-trace 1
    socket  PATH
    cap     BYTES kept per stream
    sync    1: wait for the recorder before every command (only where there is no box)
    command NAME REAL SEEN KINDS     REAL is run; SEEN is where a lookup without us would have found it;
                                     KINDS: i interpreter, v version control, - neither
    value   NAME OPTION              an option whose value is the next word
    refuse  NAME WORDS WHY           WORDS: plain words at the start, or *

Fields are parted by tabs. The C shim and the Python shim read the same file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import Json
from fairtrial.instruments.trace.records import INTERPRETERS

VERSION_CONTROL = frozenset({"git", "jj", "but", "hg", "svn", "sl"})
VALUE_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "git": ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"),
    "jj": ("-R", "--repository", "--at-operation", "--at-op", "--config", "--config-file", "--config-toml", "--color"),
    "but": ("-C", "--current-dir", "--format"),
}
MOST_BYTES = 60_000  # the shims read the text into a fixed buffer


@lean(frozen=True)
class Command:
    """One traced name. `real` and `seen` are paths as the box sees them."""

    name: str
    real: str
    seen: str

    @property
    def kinds(self) -> str:
        """The letters of the KINDS field."""
        letters = "i" * bool(INTERPRETERS.match(self.name)) + "v" * (self.name in VERSION_CONTROL)
        return letters or "-"


def text(commands: Iterable[Command], socket_path: str, *, cap: int, sync: bool, policy: Json | None = None) -> bytes:
    """The whole file. Raises UserError for a policy that cannot be written on lines."""
    rows: list[tuple[str, ...]] = [("fairtrial-trace 1",), ("socket", socket_path)]
    rows += [("cap", str(cap)), ("sync", str(int(sync)))]
    rows += [("command", c.name, c.real, c.seen, c.kinds) for c in commands]
    rows += [("value", name, option) for name, options in VALUE_OPTIONS.items() for option in options]
    rows += _refusals(policy or {})
    for row in rows:
        if any("\t" in field or "\n" in field or "\0" in field for field in row):
            raise UserError(f"toolset policy: {row!r} holds a tab, a line break or a NUL; remove it")
    written = "".join("\t".join(row) + "\n" for row in rows).encode("utf-8", "surrogateescape")
    if len(written) > MOST_BYTES:
        raise UserError(f"toolset policy: {len(written)} bytes of rules, at most {MOST_BYTES} fit; use fewer")
    return written


def _refusals(policy: Json) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for rule in policy.get("refuse", []):
        for words in rule.get("subcommands") or ["*"]:
            asked = rule["command"] if words == "*" else f"{rule['command']} {words}"
            rows.append(("refuse", rule["command"], words, f"`{asked}` is refused here: {rule['why']}"))
    return rows
