"""Hidden checks of selective-commit: one commit with one of two edits in a file, the rest untouched."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from repo import Case, same

from fairtrial.verify import Failed, Verification

v = Verification()
case = Case(v, branch="topic")
case.guard()


START = case.was.tree(case.was.ref("refs/heads/topic"))
DIRTY = case.dirty
DEBUG = '    print("loading", path, file=sys.stderr)\n'


@v.check("one-commit")
def one_commit() -> None:
    """One new commit on what was there, with the message asked for."""
    new = case.commits("refs/heads/topic")
    v.equal([case.now.commit(c).message for c in new], ["Keep quoted commas together"], "new commits")


@v.check("content")
def content() -> None:
    """The branch's files are the old ones with the fix and the new test."""
    fixed = ("100644", DIRTY["fields.py"][1].replace(DEBUG, ""))
    same(case.now.tree(case.tip), {**START, "fields.py": fixed, "tests/quotes.txt": DIRTY["tests/quotes.txt"]}, "topic")


@v.check("unrelated")
def unrelated() -> None:
    """Nothing that was to stay uncommitted is in any commit of the branch."""
    for commit in case.commits():
        files = case.now.tree(commit)
        printing = DEBUG in files.get("fields.py", ("", ""))[1]
        if printing or "notes.txt" in files or files.get("config.ini") != START["config.ini"]:
            raise Failed(f"{case.now.commit(commit).message!r} holds work that was to stay uncommitted")


@v.check("user-work")
def user_work() -> None:
    """The working tree is byte for byte as it was."""
    case.same_worktree(DIRTY)


@v.check("index")
def index() -> None:
    """The branch is checked out and nothing is staged."""
    case.in_step()


v.finish()
