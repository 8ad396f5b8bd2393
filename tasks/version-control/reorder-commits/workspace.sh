#!/usr/bin/env bash
# Move a fix to the front of a branch: the start.
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

printf '%s\n' 'read line' 'take first field' > reader.txt
printf '%s\n' '# tool' > README.md
commit Ada 'Start the tool'
git branch release
git switch -q -c topic
printf '%s\n' 'debug' 'info' 'error' > levels.txt
commit Ada 'Add log levels'
printf '%s\n' 'error red' 'info blue' > colours.txt
printf '%s\n' '' 'Colours: see colours.txt.' >> README.md
commit Ben 'Add colours'
printf '%s\n' 'read line' 'skip it when empty' 'take first field' > reader.txt
commit Cleo 'Fix crash on empty input

Reported by two users.'
printf '%s\n' 'width 40' > progress.txt
printf '%s\n' 'Progress: see progress.txt.' >> README.md
commit Ben 'Add progress bar'

git config --unset core.logAllRefUpdates
git prune
rm -f .git/ORIG_HEAD .git/FETCH_HEAD .git/COMMIT_EDITMSG
