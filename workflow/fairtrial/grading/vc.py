"""What a version-control command does: read, mutation or other, by its toolset's classes.

A class entry is a subcommand and what must follow it, in any order: plain words as they are, `*` for any plain word,
options literally. Of the entries that fit, the one that says most wins; on a tie it is a mutation:

    "branch"            git branch, git branch -vv
    "branch *"          git branch topic
    "branch --list"     git branch --list 'x*'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from fairtrial import registry
from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import Json

# Options whose value is the next word, before the subcommand.
VALUE_OPTIONS: Mapping[str, frozenset[str]] = {
    "git": frozenset(
        {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"}
    ),
    "jj": frozenset(
        {"-R", "--repository", "--at-operation", "--at-op", "--config", "--config-file", "--config-toml", "--color"}
    ),
    "but": frozenset({"-C", "--current-dir", "--format"}),
}


@lean(frozen=True)
class Classes:
    """The version-control programs of an arm and what their subcommands do, by program name.

    `selector_errors`: pieces of error text (lower case) that say a revision, file or branch was not found.
    """

    reads: Mapping[str, frozenset[str]]
    mutations: Mapping[str, frozenset[str]]
    selector_errors: Mapping[str, Sequence[str]]

    def covers(self, line: Json) -> bool:
        """Whether the line is a call of a version-control program."""
        return line["command"] in self.reads

    def known(self, program: str) -> set[str]:
        """Every subcommand with a class."""
        return {entry.split()[0] for kind in (self.reads, self.mutations) for entry in kind.get(program, ())}

    def kind(self, line: Json) -> str | None:
        """read, mutation or other; None for a command that is not version control."""
        if not self.covers(line):
            return None
        words = subcommand(line["argv"])
        read = best(self.reads[line["command"]], words)
        mutation = best(self.mutations[line["command"]], words)
        if read < 0 and mutation < 0:
            return "other"
        return "read" if read > mutation else "mutation"


def of_toolsets(toolsets: Iterable[object]) -> Classes:
    """From toolset modules (READS, MUTATIONS, BINARIES; SELECTOR_ERRORS where there are any).

    A later module's program does not replace an earlier one's.
    """
    reads: dict[str, frozenset[str]] = {}
    mutations: dict[str, frozenset[str]] = {}
    errors: dict[str, Sequence[str]] = {}
    for toolset in toolsets:
        for program in getattr(toolset, "BINARIES", ())[:1]:
            reads.setdefault(program, getattr(toolset, "READS", frozenset()))
            mutations.setdefault(program, getattr(toolset, "MUTATIONS", frozenset()))
            errors.setdefault(program, getattr(toolset, "SELECTOR_ERRORS", ()))
    return Classes(reads, mutations, errors)


def classes_for(toolset: str) -> Classes:
    """Of a toolset and of git, which is always there."""
    names = dict.fromkeys([toolset, "git"])
    return of_toolsets(registry.load("fairtrial.toolsets", name, "toolset") for name in names)


def subcommand(argv: Sequence[str]) -> list[str]:
    """The words from the subcommand on: the program's own options and their values left out."""
    if not argv:
        return []
    valued = VALUE_OPTIONS.get(PurePosixPath(argv[0]).name, frozenset())
    rest = list(argv[1:])
    while rest and rest[0].startswith("-") and rest[0] not in ("--version", "--help"):
        rest = rest[2:] if rest[0] in valued else rest[1:]
    return rest


def best(entries: Iterable[str], words: Sequence[str]) -> int:
    """How much the most telling entry that fits says about `words`; -1 when none fits."""
    return max((score for entry in entries if (score := fit(entry.split(), words)) >= 0), default=-1)


def fit(entry: Sequence[str], words: Sequence[str]) -> int:
    """-1: does not fit; else 2 for each literal word or option after the subcommand, 1 for each `*`."""
    if not words or not entry or entry[0] != words[0]:
        return -1
    plain = [w for w in words[1:] if not w.startswith("-")]
    options = {w.split("=", 1)[0] for w in words[1:] if w.startswith("-") and w != "--"}
    score = 0
    for want in entry[1:]:
        if want.startswith("-"):
            if want not in options:
                return -1
            score += 2
        elif want == "*":
            if not plain:
                return -1
            plain.pop()
            score += 1
        elif plain and plain[0] == want:
            plain.pop(0)
            score += 2
        else:
            return -1
    return score
