"""fairtrial import tasks"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "read task folders of other tools into a suite; says which line stands in the way of those it refuses"


def options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("format", metavar="FORMAT", help="rerun-bench or harbor")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a task folder, or a folder of them")
    parser.add_argument("--into", type=Path, required=True, metavar="DIR", help="the suite; its name is the folder's")


def run(args: argparse.Namespace) -> int:
    """0 when every task was taken over, 1 when one was refused."""
    from fairtrial import registry
    from fairtrial.authoring import package
    from fairtrial.contracts.errors import UserError

    importer = registry.load("fairtrial.authoring.importers", args.format, what="format of tasks")
    found = importer.folders(args.folder)
    if not found:
        raise UserError(f"{args.folder}: holds no {importer.HELP}")
    refused = 0
    for folder in found:
        try:
            print(f"imported {package.write(importer.read(folder), args.into)}")
        except (package.Refused, UserError) as why:
            print(f"refused  {folder.name}: {why}")
            refused += 1
    hint = "; prove them:" if refused < len(found) else ""
    print(f"{len(found) - refused} of {len(found)} tasks in suite {args.into.name}{hint}")
    if refused == len(found):
        return 1
    print("(they bring no known-wrong solutions, so that is what check will ask for; they can be run without)")
    print(f"fairtrial check --tasks-dir {args.into.parent} {args.into.name}")
    return 1 if refused else 0
