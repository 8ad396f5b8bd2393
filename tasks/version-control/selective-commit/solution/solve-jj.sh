#!/usr/bin/env bash
set -euo pipefail
export JJ_USER=agent JJ_EMAIL=agent@example.invalid
[ -d .jj ] || jj git init --quiet --colocate .
cp fields.py /tmp/fields.py
sed -i '/print("loading"/d' fields.py
jj commit --quiet -m 'Keep quoted commas together' fields.py tests/quotes.txt
cp /tmp/fields.py fields.py
jj bookmark set --quiet topic -r @-
jj status > /dev/null
