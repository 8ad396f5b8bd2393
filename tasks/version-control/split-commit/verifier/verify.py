"""Hidden checks of split-commit: two commits by file, the one above them as it was."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from repo import Case, same

from fairtrial.verify import Verification

v = Verification()
case = Case(v, branch="topic")
case.guard()


MAIN = case.was.tree(case.was.ref("refs/heads/main"))
FINAL = case.was.tree(case.was.ref("refs/heads/topic"))
RENAME, TOTALS = ("report.py", "README.md"), ("totals.py", "tests/totals.txt")


@v.check("messages")
def messages() -> None:
    """Three commits on top of main, named as asked; the last keeps its whole message."""
    last = case.was.commit(case.was.ref("refs/heads/topic")).message
    got = [case.now.commit(c).message for c in case.commits()]
    v.equal(got, ["Rename render to format_report", "Add totals", last], "messages")


@v.check("partition")
def partition() -> None:
    """The first changes the two renamed files, the second adds the feature."""
    commits = case.commits()
    v.equal(len(commits), 3, "number of commits")
    first = {**MAIN, **{path: FINAL[path] for path in RENAME}}
    same(case.now.tree(commits[0]), first, "first commit")
    same(case.now.tree(commits[1]), {**first, **{path: FINAL[path] for path in TOTALS}}, "second commit")


@v.check("result")
def result() -> None:
    """The branch ends with the files it had."""
    same(case.now.tree(case.tip), FINAL, "topic")


@v.check("last-commit")
def last_commit() -> None:
    """The commit above the split one keeps author and date."""
    want = case.was.commit(case.was.ref("refs/heads/topic")).author
    v.equal(case.now.commit(case.tip).author, want, "author of the last commit")


@v.check("index")
def index() -> None:
    """The branch is checked out and nothing is staged."""
    case.in_step()


@v.check("worktree")
def worktree() -> None:
    """The working tree holds what the branch held."""
    case.same_worktree(FINAL)


v.finish()
