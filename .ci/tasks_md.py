"""Prints docs/tasks.md: every task of the checkout, from the packages themselves."""

import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
HEAD = """\
# Tasks

Made from `tasks/` by `python .ci/tasks_md.py > docs/tasks.md`; a test compares the two. Each package is proven by
`fairtrial check`: the start is red, the reference is green, every check is failed by a known-wrong solution, and no
answer is within reach. A task whose programs are not installed is skipped, and `fairtrial list skipped` says why.

A *milestone* is something that was asked for, a *minefield* something that had to stay. The check `acceptance`, the
green command an agent may run, is not listed.
"""
SUITES = {
    "time-to-green": "Small changes to two programs, with a green command from the start: how long until it passes.",
    "reliability": "One habit each, on small folders: how often it comes out right.",
    "version-control": "The files are changed already; the repository's final state is graded, never the way there.",
    "polyglot": "The same kind of work in other languages.",
}


def page(folder: Path) -> str:
    """The text of docs/tasks.md for the suites in `folder`."""
    from fairtrial.plan import tasks

    found = [tasks.read(name, where) for name, where in tasks.discover([folder]).items()]
    suites = {task.suite for task in found}
    order = [*(name for name in SUITES if name in suites), *sorted(suites - set(SUITES))]
    text = HEAD + f"\n{len(found)} tasks in {len(suites)} suites.\n"
    for suite in order:
        rows = sorted((t for t in found if t.suite == suite), key=lambda t: (t.settings["label"], t.id))
        text += f"\n## {suite}\n\n{SUITES.get(suite, '')}\n\n" if suite in SUITES else f"\n## {suite}\n\n"
        text += "| task | | language | asks for | milestones | minefields | needs |\n|---|---|---|---|---|---|---|\n"
        text += "".join(row(task.id, task.settings) for task in rows)
    return text


def row(task_id: str, settings: dict) -> str:
    """One line of a suite's table."""
    checks = settings["verifier"]["checks"]
    kinds = [
        ", ".join(name for name, kind in checks.items() if kind == wanted) for wanted in ("milestone", "minefield")
    ]
    label = settings["label"] if settings["label"] != task_id else ""
    cells = [f"`{task_id}`", label, settings["language"], settings["title"], *kinds, ", ".join(settings["requires"])]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


if __name__ == "__main__":
    sys.path.insert(0, str(CHECKOUT / "workflow"))
    sys.stdout.write(page(CHECKOUT / "tasks"))
