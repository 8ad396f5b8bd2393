"""Hidden checks of update-dirty-branch: two commits on the moved main, resolved as asked, unfinished work intact."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from repo import Case, same

from fairtrial.verify import Failed, Verification

v = Verification()
case = Case(v, branch="topic")
case.guard(markers=True)


MAIN = case.was.tree(case.was.ref("refs/heads/main"))
TIP = case.was.ref("refs/heads/topic")
WERE = [case.was.commit(c) for c in (case.was.commit(TIP).parents[0], TIP)]
ROUTES = ("100644", "/lines\n/trains\n/fares\n/stops\n")
LIMITS = ("100644", "timeout = 45 seconds\nretries = 3\n")


@v.check("moved")
def moved() -> None:
    """The two commits, and no other, follow the current main."""
    v.equal([case.now.commit(c).message for c in case.commits()], [c.message for c in WERE], "messages")


@v.check("resolved")
def resolved() -> None:
    """Each commit holds main's files and its own change, resolved as asked."""
    commits = case.commits()
    v.equal(len(commits), 2, "number of commits")
    same(case.now.tree(commits[0]), {**MAIN, "routes.txt": ROUTES}, "first commit")
    same(case.now.tree(commits[1]), {**MAIN, "routes.txt": ROUTES, "limits.txt": LIMITS}, "second commit")


@v.check("authors")
def authors() -> None:
    """Authors and dates are kept."""
    v.equal([case.now.commit(c).author for c in case.commits()], [c.author for c in WERE], "authors and dates")


@v.check("unrelated")
def unrelated() -> None:
    """The unfinished work is in no commit of the branch."""
    files = case.now.tree(case.tip)
    if "ideas.txt" in files or files.get("settings.ini") != MAIN["settings.ini"]:
        raise Failed("settings.ini or ideas.txt was committed")


@v.check("user-work")
def user_work() -> None:
    """The unfinished work is in the working tree as it was."""
    found = case.worktree()
    for path in ("settings.ini", "ideas.txt"):
        if found.get(path) != case.dirty[path]:
            raise Failed(f"{path} is not what it was: {found.get(path)}")


@v.check("index")
def index() -> None:
    """The branch is checked out, nothing is staged, all other files are those of the branch."""
    case.in_step()
    work = {path: case.dirty[path] for path in ("settings.ini", "ideas.txt")}
    same({**case.worktree(), **work}, {**case.now.tree(case.tip), **work}, "working tree, against topic")


v.finish()
