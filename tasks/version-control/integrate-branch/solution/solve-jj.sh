#!/usr/bin/env bash
set -euo pipefail
export JJ_USER=agent JJ_EMAIL=agent@example.invalid
[ -d .jj ] || jj git init --quiet --colocate .
jj new --quiet main feature -m 'Merge feature: weekly report' 2> /dev/null
printf '%s\n' collect check sign 'add up the week' > steps.txt
jj bookmark set --quiet main -r @
jj new --quiet
