#!/usr/bin/env bash
set -euo pipefail
export JJ_USER=agent JJ_EMAIL=agent@example.invalid
[ -d .jj ] || jj git init --quiet --colocate .
found='roots(::main & diff_lines(substring:"quantity >= 10", "shop.py"))'
facts='"commit: " ++ description.first_line() ++ "\nauthor: " ++ author.name() ++ "\ndate: " ++ author.timestamp().format("%Y-%m-%d") ++ "\n"'
answer=$(
  jj log --no-graph -r "$found" -T "$facts"
  jj log --no-graph -r "roots(merges() & ($found)::main)" -T '"merged: " ++ description.first_line() ++ "\n"'
)
printf '%s\n' "$answer" > answer.txt
