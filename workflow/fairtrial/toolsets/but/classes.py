"""Which but subcommands read and which change something (grammar in docs/trace.md), by its published reference."""

from __future__ import annotations

READS = frozenset({
    "status", "st", "diff", "show", "log", "help", "--help", "--version", "version", "branch", "branch list",
    "branch show", "oplog", "oplog list", "config", "config list", "config get", "base check", "pull --check",
    "push --dry-run", "resolve status", "alias", "alias list", "gui", "worktree list", "setup --check",
})  # fmt: skip

MUTATIONS = frozenset({
    "absorb", "alias add", "alias remove", "amend", "apply", "base update", "branch new", "branch delete",
    "branch apply", "branch unapply", "branch rename", "branch *", "clean", "commit", "config set", "config unset",
    "describe", "discard", "fetch", "forge", "init", "land", "mark", "merge", "move", "new", "oplog restore",
    "oplog snapshot", "pick", "pr", "pull", "push", "redo", "resolve", "restore", "reword", "rub", "setup", "snapshot",
    "squash", "stage", "teardown", "unapply", "uncommit", "undo", "unmark", "unstage", "update", "worktree",
})  # fmt: skip

# Lower case; what but prints when an identifier, file or branch that was named does not exist.
SELECTOR_ERRORS = (
    "not found", "no such", "could not find", "does not exist", "is ambiguous", "no matching", "unknown id",
    "failed to find",
)  # fmt: skip
