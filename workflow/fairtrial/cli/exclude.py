"""fairtrial exclude"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "leave an attempt out of every statistic, with a reason; --undo takes it back"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("attempt", help="suite/task/harness/model/recipe12/rN, or a path that ends so")
    parser.add_argument("--reason", help="listed in the report; required except with --undo")
    parser.add_argument("--undo", action="store_true", help="count the attempt again")
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")


def run(args: argparse.Namespace) -> int:
    """0."""
    from fairtrial.paths import AttemptId, Results
    from fairtrial.upkeep import exclude

    attempt = AttemptId.parse(args.attempt)
    print(
        exclude.undo(Results(args.results), attempt)
        if args.undo
        else exclude.exclude(Results(args.results), attempt, args.reason)
    )
    return 0
