#!/usr/bin/env bash
set -euo pipefail
export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=agent GIT_CONFIG_KEY_1=user.email
export GIT_CONFIG_VALUE_1=agent@example.invalid GIT_CONFIG_KEY_2=core.editor GIT_CONFIG_VALUE_2=true
git merge -q --no-ff -X ours -m 'Merge feature: weekly report' feature
