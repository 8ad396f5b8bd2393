#!/usr/bin/env bash
# By the tool's published reference.
set -euo pipefail
[ -n "$(git for-each-ref refs/heads/gitbutler)" ] || but setup
id() { # PATTERN: the identifier at the start of the first line of the status that fits
  but status -f -v | sed 's/^[^[:alnum:]]*//' | grep -m 1 -e "$1" | cut -d ' ' -f 1
}
parser="$(git log -1 --format=%B ':/^Add parser')"
writer="$(git log -1 --format=%B ':/^Add writer')"
but squash "$(id 'Fix typo in parser')" "$(id ' wip$')"
but squash "$(git log -1 --format=%h topic~2)" "$(id 'Add parser')"
but reword "$(id 'Add parser')" -m "$parser"
but squash "$(id 'wip writer')" "$(id 'Add writer')"
but reword "$(id 'Add writer')" -m "$writer"
