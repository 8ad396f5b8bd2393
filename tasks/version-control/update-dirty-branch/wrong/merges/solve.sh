#!/usr/bin/env bash
set -euo pipefail
export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=agent GIT_CONFIG_KEY_1=user.email
export GIT_CONFIG_VALUE_1=agent@example.invalid GIT_CONFIG_KEY_2=core.editor GIT_CONFIG_VALUE_2=true
git stash push -q -u
git merge -q main > /dev/null 2>&1 || true
printf '%s\n' /lines /trains /fares /stops > routes.txt
printf '%s\n' 'timeout = 45 seconds' 'retries = 3' > limits.txt
git add -A
git commit -q --no-edit
git stash pop -q
