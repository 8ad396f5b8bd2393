"""fairtrial regrade"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "grade attempts again whose verifier failed; the earlier grade stays beside the new one"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("attempt", nargs="+", help="suite/task/harness/model/recipe12/rN, or a path that ends so")
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")


def run(args: argparse.Namespace) -> int:
    """0."""
    from fairtrial.upkeep import regrade, show

    for attempt in [show.locate(given, args.results) for given in args.attempt]:
        print(regrade.regrade(attempt), flush=True)
    return 0
