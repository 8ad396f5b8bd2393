"""fairtrial redo"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "set a sealed attempt aside, so that the next run pays for it again"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("attempt", help="suite/task/harness/model/recipe12/rN, or a path that ends so")
    parser.add_argument("--reason", required=True, help="listed in the report")
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")


def run(args: argparse.Namespace) -> int:
    """0."""
    from fairtrial.paths import AttemptId, Results
    from fairtrial.upkeep import redo

    print(redo.redo(Results(args.results), AttemptId.parse(args.attempt), args.reason))
    return 0
