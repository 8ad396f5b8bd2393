"""fairtrial show"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "show one attempt, fault or redone attempt: ending, checks, commands, isolation; or restore its workspace"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument(
        "attempt",
        help="suite/task/harness/model/recipe12/rN, a path that ends so, or one below faults/ or redone/",
    )
    parser.add_argument("--workspace", type=Path, metavar="DIR", help="restore the workspace into a new folder")
    parser.add_argument("--at", help="moment of --workspace: first-green, start, end or seconds; default end")
    parser.add_argument("--json", action="store_true", help="print result.json, fault.json or redo.json as it is")
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")


def run(args: argparse.Namespace) -> int:
    """0."""
    from fairtrial.contracts.errors import UserError
    from fairtrial.upkeep import show

    if args.at is not None and args.workspace is None:
        raise UserError("--at: is the moment whose workspace is restored; name a new folder with --workspace DIR")
    others = show.others(args.attempt, args.results)
    if others:
        return _others(args, others)
    attempt = show.locate(args.attempt, args.results)
    if args.workspace is not None:
        print(show.restore(attempt, args.workspace, args.at or "end"))
    elif args.json:
        print(show.newest_result(attempt).read_text(encoding="utf-8"), end="")
    else:
        print(show.text(attempt))
    return 0


def _others(args: argparse.Namespace, folders: list[Path]) -> int:
    """Faults and attempts that were set aside, each after the other."""
    from fairtrial.contracts.errors import UserError
    from fairtrial.paths import Attempt, AttemptId
    from fairtrial.upkeep import kept, show

    if args.workspace is not None:
        if len(folders) > 1:
            raise UserError("\n  ".join(["--workspace: which one?", *map(str, folders)]))
        attempt = Attempt(AttemptId.parse(folders[0].parent.as_posix()), folders[0])
        print(show.restore(attempt, args.workspace, args.at or "end"))
    elif args.json:
        print("".join(kept.record_file(folder).read_text(encoding="utf-8") for folder in folders), end="")
    else:
        print("\n\n".join(show.text_of(folder) for folder in folders))
    return 0
