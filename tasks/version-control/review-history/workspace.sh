#!/usr/bin/env bash
# Find the commit that broke a price: the start.
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

printf '%s\n' '# shop' > README.md
commit Ada 'Start the shop'
cat > shop.py << 'END'
"""Prices of the shop."""


def discount(quantity):
    """The part taken off for a number of pieces."""
    if quantity > 10:
        return 0.15
    if quantity > 4:
        return 0.10
    return 0.0
END
commit Ada 'Give a discount'
git branch release
git tag v1.0
git switch -q -c shipping
printf '%s\n' 'free above 50' > shipping.txt
commit Ben 'Describe shipping'
git switch -q main
git switch -q -c cleanup
sed -i 's/"""Prices of the shop."""/"""Prices and discounts of the shop."""/' shop.py
commit Cleo 'Say what the file holds'
sed -i -e 's/quantity > 10:/quantity >= 10:/' -e 's/part taken off/part that is taken off/' shop.py
commit Ben 'Polish the wording'
printf '%s\n' '# shop' '' 'Prices are in euro.' > README.md
commit Cleo 'Name the currency'
git switch -q main
identity Ada
git merge -q --no-ff -m "Merge branch 'shipping'" shipping
identity Cleo
git merge -q --no-ff -m "Merge branch 'cleanup' for the release" cleanup
git branch -q -d shipping cleanup
git mv shop.py pricing.py
commit Ada 'Move prices to pricing.py'
sed -i 's/if quantity > 4:/if quantity > 5:/' pricing.py
commit Ben 'Start the small discount at six'
git switch -q -c trial
sed -i 's/quantity >= 10:/quantity >= 12:/' pricing.py
commit Cleo 'Try twelve'
git switch -q main

git config --unset core.logAllRefUpdates
git prune
rm -f .git/ORIG_HEAD .git/FETCH_HEAD .git/COMMIT_EDITMSG
