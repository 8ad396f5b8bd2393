#!/usr/bin/env bash
set -euo pipefail
export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=agent GIT_CONFIG_KEY_1=user.email
export GIT_CONFIG_VALUE_1=agent@example.invalid GIT_CONFIG_KEY_2=core.editor GIT_CONFIG_VALUE_2=true
tip=$(git rev-parse topic)
git reset -q --hard main
i=0
for said in 1 3 2 0; do
  git cherry-pick "$tip~$((3 - i))" > /dev/null
  git commit -q --amend -m "$(git log -1 --format=%B "$tip~$said")"
  i=$((i + 1))
done
