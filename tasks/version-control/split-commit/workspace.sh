#!/usr/bin/env bash
# Split a commit below another in two: the start.
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
cat > report.py << 'END'
def render(rows):
    return "\n".join(rows)


if __name__ == "__main__":
    print(render(["a", "b"]))
END
printf '%s\n' 'Call `render` with your rows.' > README.md
commit Ada 'Print a report'
git branch release
git switch -q -c topic
sed -i 's/render(/format_report(/' report.py
sed -i 's/render/format_report/' README.md
printf '%s\n' 'def total(rows):' '    return sum(map(int, rows))' > totals.py
printf '%s\n' '1 2 3 -> 6' > tests/totals.txt
commit Ben 'Rework report'
printf '%s\n' 'Totals are new.' > CHANGES.txt
commit Cleo 'Add changelog

For the release.'

git config --unset core.logAllRefUpdates
git prune
rm -f .git/ORIG_HEAD .git/FETCH_HEAD .git/COMMIT_EDITMSG
