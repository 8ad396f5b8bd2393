#!/usr/bin/env bash
# By the tool's published reference.
set -euo pipefail
[ -n "$(git for-each-ref refs/heads/gitbutler)" ] || but setup
id() { # PATTERN: the identifier at the start of the first line of the status that fits
  but status -f -v | sed 's/^[^[:alnum:]]*//' | grep -m 1 -e "$1" | cut -d ' ' -f 1
}
cp fields.py /tmp/fields.py
sed -i '/print("loading"/d' fields.py
but commit topic -m 'Keep quoted commas together' "$(id fields.py)" "$(id tests/quotes.txt)"
cp /tmp/fields.py fields.py
