#!/usr/bin/env bash
# By the tool's published reference.
set -euo pipefail
[ -n "$(git for-each-ref refs/heads/gitbutler)" ] || but setup
id() { # PATTERN: the identifier at the start of the first line of the status that fits
  but status -f -v | sed 's/^[^[:alnum:]]*//' | grep -m 1 -e "$1" | cut -d ' ' -f 1
}
but pull
but push main
