"""Hidden checks of integrate-branch: one merge commit of the two, resolved as asked."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from repo import Case, same

from fairtrial.verify import Verification

v = Verification()
case = Case(v, branch="main")
case.guard(markers=True)


MAIN, FEATURE = case.was.ref("refs/heads/main"), case.was.ref("refs/heads/feature")
WANT = {
    **case.was.tree(FEATURE),
    "steps.txt": ("100644", "collect\ncheck\nsign\nadd up the week\n"),
    "README.md": ("100644", "# The report\n\none\ntwo\nthree\nfour\n\nWritten daily and weekly.\n"),
}


@v.check("merged")
def merged() -> None:
    """main is one merge commit, on the old main first and the feature second, with the message asked for."""
    made = case.now.commit(case.tip)
    v.equal([case.now.story(p) for p in made.parents], [case.was.story(MAIN), case.was.story(FEATURE)], "parents")
    v.equal(made.message, "Merge feature: weekly report", "message")


@v.check("resolved")
def resolved() -> None:
    """Every file is as both sides want it."""
    same(case.now.tree(case.tip), WANT, "main")


@v.check("index")
def index() -> None:
    """main is checked out and nothing is staged."""
    case.in_step()


@v.check("worktree")
def worktree() -> None:
    """The working tree holds what main holds."""
    case.same_worktree(WANT)


v.finish()
