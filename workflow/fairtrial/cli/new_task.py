"""fairtrial new-task"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "lay out a task package that `check` fails until it is written"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("name", metavar="SUITE/ID", help="folders of the package below the folder of suites")
    parser.add_argument("--tasks-dir", "--into", type=Path, help="the folder of suites; default tasks/ of the checkout")


def run(args: argparse.Namespace) -> int:
    """0; UserError when the name is not allowed or taken."""
    from fairtrial.authoring import new_task, package
    from fairtrial.contracts.errors import UserError
    from fairtrial.contracts.schema import data_folder

    suite, slash, task_id = args.name.partition("/")
    if not (slash and package.is_slug(suite) and package.is_slug(task_id)):
        raise UserError(f"new-task: {args.name!r} is not SUITE/ID; each of them {package.ALLOWED}")
    suites = args.tasks_dir or data_folder("tasks")
    folder = package.write(new_task.layout(task_id), suites / suite)
    extra = f" --tasks-dir {args.tasks_dir}" if args.tasks_dir else ""
    print(f"{folder}: write prompt.md, workspace/, acceptance/, verifier/, solution/ and two or more folders in wrong/")
    print(f"what is missing: fairtrial check{extra} {args.name}")
    return 0
