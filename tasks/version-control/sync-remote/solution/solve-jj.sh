#!/usr/bin/env bash
set -euo pipefail
export JJ_USER=agent JJ_EMAIL=agent@example.invalid
[ -d .jj ] || jj git init --quiet --colocate .
mine=$(jj log --no-graph -r 'subject(exact:"Add opening hours")' -T change_id)
jj git fetch --quiet 2> /dev/null
jj bookmark track --quiet main@origin 2> /dev/null || true
jj rebase --quiet -s "$mine" -o main@origin
jj bookmark set --quiet main -r "$mine"
jj git push --quiet --bookmark main
jj status > /dev/null
