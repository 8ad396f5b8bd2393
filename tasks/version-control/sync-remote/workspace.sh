#!/usr/bin/env bash
# Fetch, put own work on top, push: the start.
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

git init -q --bare -b main --template= origin.git
mkdir -p .git/info
echo /origin.git/ > .git/info/exclude
git remote add origin ./origin.git
printf '%s\n' 'soup 4' 'bread 1' > menu.txt
commit Ada 'Write the menu'
git branch release
git push -q -u origin main release 2> /dev/null

printf '%s\n' 'soup 4' 'bread 1' 'tea 2' > menu.txt
commit Ben 'Serve tea'
printf '%s\n' 'Main Street 1' > address.txt
commit Cleo 'Add address'
git push -q origin main
git switch -q --detach release
git switch -q -C main release
git update-ref refs/remotes/origin/main main
git branch -q -u origin/main
printf '%s\n' 'from 9 to 5' > hours.txt
commit Ada 'Add opening hours

As agreed on Monday.'
printf '%s\n' 'closed in August?' > notes.txt

git config --unset core.logAllRefUpdates
git prune
rm -f .git/ORIG_HEAD .git/FETCH_HEAD .git/COMMIT_EDITMSG
