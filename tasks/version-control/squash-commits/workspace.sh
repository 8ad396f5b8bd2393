#!/usr/bin/env bash
# Squash a trail of small commits into two: the start.
# Fixed names, dates and time zone; the end leaves no object, log or ref that the history does not need.
set -euo pipefail
export TZ=UTC GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
day=0
identity() { # NAME: who and when of the next commit
  day=$((day + 1))
  export GIT_AUTHOR_NAME=$1 GIT_AUTHOR_EMAIL=${1,,}@example.invalid
  export GIT_COMMITTER_NAME=$1 GIT_COMMITTER_EMAIL=${1,,}@example.invalid
  printf -v GIT_AUTHOR_DATE '2024-03-%02dT09:30:00+01:00' "$day"
  export GIT_AUTHOR_DATE GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
}
commit() { # NAME MESSAGE: everything as it stands
  identity "$1"
  git add -A
  git commit -q -m "$2"
}
git init -q -b main --template=
git config core.logAllRefUpdates false

printf '%s\n' '# notes' > README.md
commit Ada 'Start'
git branch release
git switch -q -c topic
printf '%s\n' 'split at #' > parser.txt
commit Ada 'Add parser

Headings only, so far.'
printf '%s\n' 'split at #' 'count the sings' > parser.txt
commit Ada 'wip'
printf '%s\n' 'split at #' 'count the signs' > parser.txt
commit Ben 'Fix typo in parser'
printf '%s\n' 'print the title' > writer.txt
commit Cleo 'Add writer

Plain text.'
printf '%s\n' 'print the title' 'underline it' > writer.txt
printf '%s\n' '# notes' '' 'Reads and writes.' > README.md
commit Cleo 'wip writer'

git config --unset core.logAllRefUpdates
git prune
rm -f .git/ORIG_HEAD .git/FETCH_HEAD .git/COMMIT_EDITMSG
