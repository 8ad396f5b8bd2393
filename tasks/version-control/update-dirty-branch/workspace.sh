#!/usr/bin/env bash
# Bring a branch with unfinished work up to date: the start.
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

printf '%s\n' '/lines' '/trains' > routes.txt
printf '%s\n' 'timeout = 30' 'retries = 3' > limits.txt
printf '%s\n' '[server]' 'port = 8080' 'workers = 2' > settings.ini
commit Ada 'Start the server'
git branch release
git switch -q -c topic
printf '%s\n' '/stops' >> routes.txt
commit Ben 'Add route for stops'
printf '%s\n' 'timeout = 30 seconds' 'retries = 3' > limits.txt
commit Ben 'Give limits a unit

Nobody knew.'
git switch -q main
printf '%s\n' '/fares' >> routes.txt
commit Cleo 'Add route for fares'
printf '%s\n' 'timeout = 45' 'retries = 3' > limits.txt
printf '%s\n' 'Changes are listed here.' > CHANGES.txt
commit Ada 'Wait longer'
git switch -q topic
sed -i 's/workers = 2/workers = 4/' settings.ini
printf '%s\n' 'one worker per core?' > ideas.txt

git config --unset core.logAllRefUpdates
git prune
rm -f .git/ORIG_HEAD .git/FETCH_HEAD .git/COMMIT_EDITMSG
