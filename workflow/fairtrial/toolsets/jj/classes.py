"""Which jj subcommands read and which change something (grammar in docs/trace.md).

Every jj command also records the working copy; that alone does not make it a mutation, because it changes nothing
that the agent asked for.
"""

from __future__ import annotations

READS = frozenset({
    "log", "show", "diff", "status", "st", "help", "--help", "--version", "version", "root", "interdiff", "evolog",
    "evolution-log", "obslog", "bookmark", "bookmark list", "bookmark l", "b list", "b l", "branch list", "tag list",
    "tag l", "op log", "op show", "op diff", "operation log", "operation show", "operation diff", "file list",
    "file show", "file annotate", "file search", "cat", "files", "config list", "config get", "config path", "config l",
    "git remote list", "git root", "git colocation status", "workspace list", "workspace root", "sparse list",
    "resolve --list", "resolve -l", "util completion", "util config-schema", "bisect", "git push --dry-run",
})  # fmt: skip

MUTATIONS = frozenset({
    "abandon", "absorb", "arrange", "b", "bisect run", "bookmark create", "bookmark set", "bookmark move",
    "bookmark delete", "bookmark forget", "bookmark rename", "bookmark track", "bookmark untrack", "bookmark advance",
    "bookmark c", "bookmark s", "bookmark m", "bookmark d", "bookmark f", "bookmark r", "bookmark t", "branch",
    "checkout", "ci", "commit", "config set", "config unset", "config edit", "converge", "desc", "describe", "diffedit",
    "duplicate", "edit", "file chmod", "file track", "file untrack", "fix", "gerrit", "git clone", "git export",
    "git fetch", "git import", "git init", "git push", "git remote add", "git remote remove", "git remote rename",
    "git remote set-url", "git colocation enable", "git colocation disable", "merge", "metaedit", "move", "new", "next",
    "op abandon", "op restore", "op revert", "op undo", "operation abandon", "operation restore", "operation revert",
    "operation undo", "parallelize", "prev", "rebase", "redo", "resolve", "restore", "revert", "run", "sign",
    "simplify-parents", "sparse edit", "sparse reset", "sparse set", "split", "squash", "tag set", "tag delete",
    "undo", "unsign", "unsquash", "util exec", "util gc", "workspace add", "workspace forget", "workspace rename",
    "workspace update-stale", "util snapshot",
})  # fmt: skip

# Lower case; what jj prints when a revision, file or bookmark that was named does not exist.
SELECTOR_ERRORS = (
    "doesn't exist", "no such path", "no such bookmark", "no matching bookmarks", "no such remote", "no such revision",
    "failed to parse revset", "failed to resolve revset", "resolved to more than one revision",
    "didn't resolve to any revisions", "no matching", "no such file", "is ambiguous", "no git remote named",
    "failed to parse fileset",
)  # fmt: skip
