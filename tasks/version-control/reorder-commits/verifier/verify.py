"""Hidden checks of reorder-commits: the same commits in another order."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from repo import Case, Files, same

from fairtrial.verify import Verification

v = Verification()
case = Case(v, branch="topic")
case.guard()


MOVED = (2, 0, 1, 3)  # the new order, by place in the old one
FINAL = case.was.tree(case.was.ref("refs/heads/topic"))
WERE = [case.was.commit(c) for c in case.old()]


def changes(place: int) -> Files:
    """The files one old commit wrote."""
    commit = case.old()[place]
    before = case.was.tree(case.was.commit(commit).parents[0])
    return {path: entry for path, entry in case.was.tree(commit).items() if before.get(path) != entry}


@v.check("order")
def order() -> None:
    """The whole messages in the new order, on top of main."""
    got = [case.now.commit(c).message for c in case.commits()]
    v.equal(got, [WERE[place].message for place in MOVED], "messages")


@v.check("authors")
def authors() -> None:
    """Each message keeps its author and date."""
    got = {case.now.commit(c).message: case.now.commit(c).author for c in case.commits()}
    v.equal(got, {commit.message: commit.author for commit in WERE}, "authors and dates")


@v.check("partition")
def partition() -> None:
    """Each commit writes what it wrote, so that every state in between is whole."""
    files = case.was.tree(case.was.ref("refs/heads/main"))
    commits = case.commits()
    v.equal(len(commits), len(MOVED), "number of commits")
    for commit, place in zip(commits, MOVED, strict=True):
        files |= changes(place)
        same(case.now.tree(commit), files, repr(case.now.commit(commit).message))


@v.check("result")
def result() -> None:
    """The branch ends with the files it had."""
    same(case.now.tree(case.tip), FINAL, "topic")


@v.check("index")
def index() -> None:
    """The branch is checked out and nothing is staged."""
    case.in_step()


@v.check("worktree")
def worktree() -> None:
    """The working tree holds what the branch held."""
    case.same_worktree(FINAL)


v.finish()
