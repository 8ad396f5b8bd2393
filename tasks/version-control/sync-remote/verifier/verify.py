"""Hidden checks of sync-remote: own commit on top of the colleagues', here and on the remote."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from repo import Case, same

from fairtrial.verify import Failed, Verification

v = Verification()
case = Case(v, branch="main", remote="origin.git")
case.guard(moves=("refs/remotes/origin/main",))


REMOTE = case.was_there
MINE = case.was.commit(case.was.ref("refs/heads/main"))


@v.check("integrated")
def integrated() -> None:
    """The own commit, as it was, stands alone on top of the colleagues' last."""
    new = case.now.since(case.tip, REMOTE.story(REMOTE.ref("refs/heads/main")))
    got = [(case.now.commit(c).message, case.now.commit(c).author) for c in new]
    v.equal(got, [(MINE.message, MINE.author)], "commits on top of the remote's")
    theirs = REMOTE.tree(REMOTE.ref("refs/heads/main"))
    same(case.now.tree(case.tip), {**theirs, "hours.txt": case.dirty["hours.txt"]}, "main")


@v.check("pushed")
def pushed() -> None:
    """The remote's main is the local one, and it is not just what it was."""
    there = case.now_there
    if there.story(there.ref("refs/heads/main")) != case.now.story(case.tip):
        raise Failed(f"the remote's main is {there.commit(there.ref('refs/heads/main')).message!r}")
    hours = there.tree(there.ref("refs/heads/main")).get("hours.txt")
    v.equal(hours, case.dirty["hours.txt"], "hours.txt on the remote")


@v.check("remote-kept")
def remote_kept() -> None:
    """What was on the remote's main is still part of it, and its other branch did not move."""
    there = case.now_there
    if not there.holds(there.ref("refs/heads/main"), REMOTE.story(REMOTE.ref("refs/heads/main"))):
        raise Failed("commits of the colleagues are gone from the remote's main")
    v.equal(there.story(there.ref("refs/heads/release")), REMOTE.story(REMOTE.ref("refs/heads/release")), "release")


@v.check("user-work")
def user_work() -> None:
    """The own file is there as it was, and in no commit."""
    v.equal(case.worktree().get("notes.txt"), case.dirty["notes.txt"], "notes.txt")
    if "notes.txt" in case.now.tree(case.tip):
        raise Failed("notes.txt was committed")


@v.check("index")
def index() -> None:
    """main is checked out, nothing is staged, all other files are those of main."""
    case.in_step()
    want = {**case.now.tree(case.tip), "notes.txt": case.dirty["notes.txt"]}
    same({**case.worktree(), "notes.txt": case.dirty["notes.txt"]}, want, "working tree, against main")


v.finish()
