#!/usr/bin/env bash
# Fold corrections into the commits they belong to: the start.
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

printf '%s\n' 'translate' 'ship' > TODO.txt
commit Ada 'Start the list'
git branch release
git switch -q -c topic
printf '%s\n' 'Helo,' 'welcome aboard.' > greeting.txt
commit Ada 'Add greeting'
printf '%s\n' 'Good by,' 'see you soon.' > farewell.txt
commit Ben 'Add farewell

Asked for by the front desk.'
printf '%s\n' '1 soup' '2 brad' '3 tea' > menu.txt
commit Cleo 'Add menu'

sed -i 's/Helo/Hello/' greeting.txt
sed -i 's/Good by,/Goodbye,/' farewell.txt
sed -i 's/brad/bread/' menu.txt
printf '%s\n' 'Order by number.' > menu-help.txt
printf '%s\n' 'translate' 'ship' 'call the printer' > TODO.txt
printf '%s\n' 'price of soup?' > scratch.txt

git config --unset core.logAllRefUpdates
git prune
rm -f .git/ORIG_HEAD .git/FETCH_HEAD .git/COMMIT_EDITMSG
