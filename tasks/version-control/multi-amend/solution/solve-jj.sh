#!/usr/bin/env bash
set -euo pipefail
export JJ_USER=agent JJ_EMAIL=agent@example.invalid
[ -d .jj ] || jj git init --quiet --colocate .
jj squash --quiet --into 'subject(exact:"Add greeting")' greeting.txt
jj squash --quiet --into 'subject(exact:"Add farewell")' farewell.txt
jj squash --quiet --into 'subject(exact:"Add menu")' menu.txt menu-help.txt
