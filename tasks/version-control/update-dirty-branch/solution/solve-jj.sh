#!/usr/bin/env bash
set -euo pipefail
export JJ_USER=agent JJ_EMAIL=agent@example.invalid
[ -d .jj ] || jj git init --quiet --colocate .
jj rebase --quiet -b topic -o main 2> /dev/null
top=$(jj log --no-graph -r @ -T change_id)
jj new --quiet 'subject(exact:"Add route for stops")' 2> /dev/null
printf '%s\n' /lines /trains /fares /stops > routes.txt
jj squash --quiet 2> /dev/null
jj new --quiet 'subject(exact:"Give limits a unit")' 2> /dev/null
printf '%s\n' 'timeout = 45 seconds' 'retries = 3' > limits.txt
jj squash --quiet 2> /dev/null
jj edit --quiet "$top"
