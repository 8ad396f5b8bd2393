#!/usr/bin/env bash
set -euo pipefail
export JJ_USER=agent JJ_EMAIL=agent@example.invalid
[ -d .jj ] || jj git init --quiet --colocate .
for part in 'wip' 'Fix typo in parser'; do
  jj squash --quiet -u --from "subject(exact:'$part')" --into 'subject(exact:"Add parser")'
done
jj squash --quiet -u --from 'subject(exact:"wip writer")' --into 'subject(exact:"Add writer")'
