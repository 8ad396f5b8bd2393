#!/usr/bin/env bash
# Commit one fix out of a busy working tree: the start.
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

mkdir tests
printf '%s\n' '[server]' 'host = localhost' 'port = 8080' > config.ini
cat > fields.py << 'END'
"""Rows of comma-separated fields."""

import sys


def split_fields(line):
    """The fields of one line."""
    return line.split(",")


def join_fields(fields):
    """One line from its fields."""
    return ",".join(fields)


def widest(rows):
    """The largest number of fields in a row."""
    return max(map(len, rows), default=0)


def load(path):
    """All rows of a file."""
    with open(path) as file:
        return [split_fields(line.rstrip("\n")) for line in file]


if __name__ == "__main__":
    print(widest(load(sys.argv[1])))
END
printf '%s\n' 'a,b -> a|b' > tests/plain.txt
commit Ada 'Read rows of fields'
git branch release
git tag v1.0
git switch -q -c topic
printf '%s\n' '# fields' '' 'Prints the width of a table.' > README.md
commit Ben 'Describe the program'

sed -i -e 's/^import sys$/import csv\nimport sys/' \
  -e 's/    return line.split(",")/    return next(csv.reader([line]), [])/' \
  -e 's/^    with open(path) as file:$/    print("loading", path, file=sys.stderr)\n&/' fields.py
sed -i 's/8080/9191/' config.ini
printf '%s\n' '"a,b",c -> a,b|c' > tests/quotes.txt
printf '%s\n' 'ask Cleo about tabs' > notes.txt

git config --unset core.logAllRefUpdates
git prune
rm -f .git/ORIG_HEAD .git/FETCH_HEAD .git/COMMIT_EDITMSG
