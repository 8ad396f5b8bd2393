"""Which git subcommands read and which change something; the grammar is in docs/trace.md.

A mutation changes the repository, the index, the working tree or a remote; `git fetch` is one (it moves refs).
"""

from __future__ import annotations

READS = frozenset({
    "annotate", "archive", "bisect log", "bisect view", "bisect visualize", "blame", "branch", "branch --list",
    "branch -l", "branch --contains", "branch --no-contains", "branch --merged", "branch --no-merged",
    "branch --points-at", "branch --show-current", "branch -a --list", "branch -r --list", "cat-file",
    "check-attr", "check-ignore", "check-mailmap", "check-ref-format", "cherry", "column", "config *",
    "config --get", "config --get-all", "config --get-regexp", "config --list", "config -l", "config get",
    "config list", "count-objects", "describe", "diff", "diff-files", "diff-index", "diff-tree", "difftool",
    "for-each-ref", "format-patch", "fsck", "get-tar-commit-id", "grep", "hash-object", "help", "--help", "--version",
    "log", "ls-files", "ls-remote", "ls-tree", "mailinfo", "merge-base", "merge-tree", "name-rev", "notes",
    "notes list", "notes show", "patch-id", "range-diff", "reflog", "reflog show", "reflog exists", "remote",
    "remote show", "remote get-url", "rerere diff", "rerere status", "rev-list", "rev-parse", "shortlog", "show",
    "show-branch", "show-index", "show-ref", "sparse-checkout list", "stash list", "stash show", "status",
    "submodule", "submodule status", "submodule summary", "symbolic-ref *", "tag", "tag --list", "tag -l", "tag -n",
    "tag --contains", "tag --points-at", "tag --merged", "tag -v", "tag --verify", "var", "verify-commit",
    "verify-pack", "verify-tag", "version", "whatchanged", "worktree", "worktree list", "apply --check", "apply --stat",
    "apply --numstat", "apply --summary", "bundle verify", "bundle list-heads", "add --dry-run", "add -n",
    "commit --dry-run", "clean --dry-run", "clean -n", "rm --dry-run", "rm -n", "push --dry-run", "push -n",
    "fetch --dry-run", "mv --dry-run", "mv -n", "branch --format", "branch --sort", "tag --format", "tag --sort",
    "config --get *", "config --get-all *", "config --get-regexp *", "clean -nd", "clean -dn", "clean -ndx",
    "clean -nxd", "clean -xdn", "clean -nfd", "clean -fdn", "clean -dfn",
})  # fmt: skip

MUTATIONS = frozenset({
    "add", "am", "apply", "bisect", "branch *", "branch -d *", "branch -D *", "branch --delete *", "branch -m *",
    "branch -M *", "branch --move *", "branch -c *", "branch -C *", "branch --copy *", "branch -f *",
    "branch --force *", "branch -u", "branch --set-upstream-to", "branch --unset-upstream", "bundle", "checkout",
    "checkout-index", "cherry-pick", "clean", "clone", "commit", "commit-graph", "commit-tree", "config * *",
    "config --add", "config --unset", "config --unset-all", "config --replace-all", "config --rename-section",
    "config --remove-section", "config --edit", "config -e", "config set", "config unset", "fast-import", "fetch",
    "filter-branch", "filter-repo", "gc", "hash-object -w", "init", "maintenance", "merge", "merge-file",
    "merge-index", "mergetool", "mktag", "mktree", "mv", "notes add", "notes append", "notes copy", "notes edit",
    "notes merge", "notes prune", "notes remove", "pack-objects", "pack-refs", "prune", "pull", "push", "read-tree",
    "rebase", "reflog delete", "reflog expire", "remote add", "remote prune", "remote remove", "remote rename",
    "remote rm", "remote set-branches", "remote set-head", "remote set-url", "remote update", "repack", "replace",
    "rerere", "reset", "restore", "revert", "rm", "sparse-checkout", "stage", "stash", "submodule add",
    "submodule deinit", "submodule init", "submodule sync", "submodule update", "svn", "switch", "symbolic-ref * *",
    "symbolic-ref -d", "symbolic-ref --delete", "tag *", "tag -a", "tag -d *", "tag --delete *", "tag -s", "tag -f",
    "unpack-objects", "update-index", "update-ref", "worktree add", "worktree lock", "worktree move",
    "worktree prune", "worktree remove", "worktree repair", "worktree unlock", "write-tree",
    "branch --edit-description",
})  # fmt: skip

# Lower case; what git prints when a revision, file or branch that was named does not exist.
SELECTOR_ERRORS = (
    "unknown revision", "bad revision", "ambiguous argument", "did not match any file", "not a valid object name",
    "not a valid ref", "invalid reference", "bad object", "does not exist in", "unknown switch", "no such ref",
    "not something we can merge", "couldn't find remote ref", "does not match any", "not a commit",
    "no such remote", "not a stash", "is not a valid reference", "invalid object name", "exists on disk, but not in",
    "fatal: no such path", "not found.", "needed a single revision", "no such branch", "src refspec",
)  # fmt: skip
