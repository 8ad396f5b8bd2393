"""Hidden checks of review-history: the four facts, and that looking changed nothing."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from repo import OWN, Case

from fairtrial.verify import Failed, Verification

v = Verification()
case = Case(v, branch="none")
case.guard()


FACTS = {
    "commit": "Polish the wording",
    "author": "Ben",
    "date": "2024-03-05",
    "merged": "Merge branch 'cleanup' for the release",
}


def answer() -> dict[str, str]:
    """The lines of the answer; Failed when they are not four of the right names."""
    lines = v.text("answer.txt").strip().splitlines()
    pairs = [line.partition(":") for line in lines]
    v.equal([name.strip() for name, _, _ in pairs], list(FACTS), "names of the lines of answer.txt")
    return {name.strip(): value.strip() for name, _, value in pairs}


def fact(name: str) -> None:
    """Register the check of one line."""
    v.check(name)(lambda: v.equal(answer()[name], FACTS[name], name))


for each in FACTS:
    fact(each)


@v.check("only-answer")
def only_answer() -> None:
    """No file but the answer is new, none is changed; HEAD is where it was."""
    found = case.worktree()
    found.pop("answer.txt", None)
    v.equal(found, case.dirty, "files beside answer.txt")
    now = case.now
    if not now.at.startswith(OWN) and now.story(now.head) != case.was.story(case.was.head):
        raise Failed(f"HEAD is {now.commit(now.head).message!r}, it was the last commit of main")
    added = {name for name in now.refs if name not in case.was.refs and not name.startswith(OWN)}
    if added:
        raise Failed(f"new refs: {', '.join(sorted(added))}")


@v.check("index")
def index() -> None:
    """Nothing is staged."""
    v.equal(case.now.files(case.now.index), case.was.tree(case.was.head), "index")


v.finish()
