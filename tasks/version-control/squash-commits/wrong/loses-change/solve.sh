#!/usr/bin/env bash
set -euo pipefail
export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=agent GIT_CONFIG_KEY_1=user.email
export GIT_CONFIG_VALUE_1=agent@example.invalid GIT_CONFIG_KEY_2=core.editor GIT_CONFIG_VALUE_2=true
tip=$(git rev-parse topic)
git reset -q --hard "$tip~2"
git reset -q --soft main
git commit -q -C "$tip~4"
git read-tree -u -m HEAD "$tip"
git commit -q -C "$tip~1"
git checkout -q main -- README.md
git commit -q --amend --no-edit
