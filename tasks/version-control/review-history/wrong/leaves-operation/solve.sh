#!/usr/bin/env bash
set -euo pipefail
export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=agent GIT_CONFIG_KEY_1=user.email
export GIT_CONFIG_VALUE_1=agent@example.invalid GIT_CONFIG_KEY_2=core.editor GIT_CONFIG_VALUE_2=true
found=$(git log main --format=%H -S'quantity >= 10' -- shop.py | tail -n 1)
{
  git log -1 --date=short --format='commit: %s%nauthor: %an%ndate: %ad' "$found"
  git log --merges --ancestry-path --format='merged: %s' "$found..main" | tail -n 1
} > answer.txt
git bisect start > /dev/null
