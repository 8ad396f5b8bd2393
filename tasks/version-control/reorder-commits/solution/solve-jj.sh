#!/usr/bin/env bash
set -euo pipefail
export JJ_USER=agent JJ_EMAIL=agent@example.invalid
[ -d .jj ] || jj git init --quiet --colocate .
jj rebase --quiet -r 'subject(exact:"Fix crash on empty input")' --before 'subject(exact:"Add log levels")'
