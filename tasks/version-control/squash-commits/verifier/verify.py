"""Hidden checks of squash-commits: two commits, cut in the right place."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from repo import Case, same

from fairtrial.verify import Verification

v = Verification()
case = Case(v, branch="topic")
case.guard()


OLD = case.old()
KEPT = [case.was.commit(OLD[0]), case.was.commit(OLD[3])]
STATES = [case.was.tree(OLD[2]), case.was.tree(OLD[4])]


@v.check("messages")
def messages() -> None:
    """Two commits on top of main with the whole messages of the first of each."""
    v.equal([case.now.commit(c).message for c in case.commits()], [c.message for c in KEPT], "messages")


@v.check("authors")
def authors() -> None:
    """And with their authors and dates."""
    v.equal([case.now.commit(c).author for c in case.commits()], [c.author for c in KEPT], "authors and dates")


@v.check("partition")
def partition() -> None:
    """The cut is between parser and writer."""
    commits = case.commits()
    v.equal(len(commits), 2, "number of commits")
    for commit, state in zip(commits, STATES, strict=True):
        same(case.now.tree(commit), state, repr(case.now.commit(commit).message))


@v.check("result")
def result() -> None:
    """The branch ends with the files it had."""
    same(case.now.tree(case.tip), STATES[1], "topic")


@v.check("index")
def index() -> None:
    """The branch is checked out and nothing is staged."""
    case.in_step()


@v.check("worktree")
def worktree() -> None:
    """The working tree holds what the branch held."""
    case.same_worktree(STATES[1])


v.finish()
