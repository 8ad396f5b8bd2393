"""The first layout of a task package: it lints, its start is red, and `check` names what has to be written next."""

from __future__ import annotations

from fairtrial.authoring.package import Package, toml

PROMPT = """\
Say what is wanted, as you would to a colleague who knows the language and not the folder. Every rule that the verifier
holds the work to stands here or in the workspace.

Your work is done when this passes:

    python3 -m unittest acceptance.test_acceptance

`acceptance/` is read-only.
"""
README = """\
# {id}

What this task shows about an agent, in a sentence or two. What typical bad attempts look like: each of them is a folder
below wrong/.
"""
ACCEPTANCE = '''\
"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import unittest


class Acceptance(unittest.TestCase):
    def test_the_wish(self):
        self.fail("write what an agent can see of the wish")


if __name__ == "__main__":
    unittest.main()
'''
VERIFIER = '''\
"""Hidden checks: other inputs than the visible test, and everything that had to stay."""

from fairtrial.verify import Failed, Verification

v = Verification()


@v.check("wish")
def wish() -> None:
    """One milestone: what was asked for, on inputs the visible test does not have."""
    raise Failed("write this check: v.run([...]) runs the product, v.equal(got, want) compares")


@v.check("old-behaviour")
def old_behaviour() -> None:
    """One minefield: what had to stay as it is."""
    v.text("README.md")


v.finish()
'''


def layout(task_id: str) -> Package:
    """The files of a new package. `check` fails it for the right reasons: no reference, nothing that is caught."""
    settings = {
        "id": task_id,
        "title": "One line that says what is asked for",
        "language": "python",
        "tags": [],
        "difficulty": "medium",
        "wall_seconds": 900,
        "check": "python3 -m unittest acceptance.test_acceptance",
        "verifier": {"seconds": 60},
        "verifier.checks": {"wish": "milestone", "old-behaviour": "minefield"},
    }
    texts = {
        "prompt.md": PROMPT,
        "README.md": README.format(id=task_id),
        "workspace/README.md": "What the program in this folder is for.\n",
        "acceptance/__init__.py": "",
        "acceptance/test_acceptance.py": ACCEPTANCE,
        "verifier/verify.py": VERIFIER,
    }
    return Package(task_id, {"task.toml": toml(settings), **{name: text.encode() for name, text in texts.items()}})
