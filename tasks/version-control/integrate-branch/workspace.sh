#!/usr/bin/env bash
# Merge a branch and resolve a conflict: the start.
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

printf '%s\n' 'collect' 'check' > steps.txt
printf '%s\n' '# report' '' 'one' 'two' 'three' 'four' '' 'Written daily.' > README.md
commit Ada 'Describe the report'
git branch release
git switch -q -c feature
printf '%s\n' 'collect' 'check' 'add up the week' > steps.txt
commit Ben 'Add up the week'
sed -i 's/Written daily./Written daily and weekly./' README.md
printf '%s\n' 'every Friday' > weekly.txt
commit Ben 'Plan the weekly report'
git switch -q main
printf '%s\n' 'collect' 'check' 'sign' > steps.txt
sed -i 's/^# report$/# The report/' README.md
commit Cleo 'Sign the report'

git config --unset core.logAllRefUpdates
git prune
rm -f .git/ORIG_HEAD .git/FETCH_HEAD .git/COMMIT_EDITMSG
