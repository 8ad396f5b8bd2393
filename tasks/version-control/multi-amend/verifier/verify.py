"""Hidden checks of multi-amend: three commits, each with its own correction and nothing else."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from repo import Case, same

from fairtrial.verify import Failed, Verification

v = Verification()
case = Case(v, branch="topic")
case.guard()


DIRTY = case.dirty
MAIN = case.was.tree(case.was.ref("refs/heads/main"))
OWN = (("greeting.txt",), ("farewell.txt",), ("menu.txt", "menu-help.txt"))


@v.check("messages")
def messages() -> None:
    """The same three messages in the same order, on top of main."""
    want = [case.was.commit(c).message for c in case.old()]
    v.equal([case.now.commit(c).message for c in case.commits()], want, "messages")


@v.check("authors")
def authors() -> None:
    """Nobody else's name or date."""
    want = [case.was.commit(c).author for c in case.old()]
    v.equal([case.now.commit(c).author for c in case.commits()], want, "authors and dates")


@v.check("partition")
def partition() -> None:
    """Each commit adds its own files in their corrected form."""
    files = dict(MAIN)
    commits = case.commits()
    v.equal(len(commits), len(OWN), "number of commits")
    for commit, own in zip(commits, OWN, strict=True):
        files |= {path: DIRTY[path] for path in own}
        same(case.now.tree(commit), files, repr(case.now.commit(commit).message))


@v.check("unrelated")
def unrelated() -> None:
    """What belongs to no commit is in none."""
    for commit in case.commits():
        files = case.now.tree(commit)
        if "scratch.txt" in files or files.get("TODO.txt") != MAIN["TODO.txt"]:
            raise Failed(f"{case.now.commit(commit).message!r} holds TODO.txt or scratch.txt")


@v.check("user-work")
def user_work() -> None:
    """The working tree is byte for byte as it was."""
    case.same_worktree(DIRTY)


@v.check("index")
def index() -> None:
    """The branch is checked out and nothing is staged."""
    case.in_step()


v.finish()
