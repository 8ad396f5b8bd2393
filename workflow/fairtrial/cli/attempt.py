"""fairtrial attempt"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "run one planned attempt and seal its evidence; a sealed one is never run again"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("attempt", help="suite/task/harness/model/recipe12/rN, or a path that ends so")
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")


def run(args: argparse.Namespace) -> int:
    """0 sealed, 1 a fault, 2 refused."""
    from fairtrial.capture import attempt, settings
    from fairtrial.paths import AttemptId, Results

    return attempt.run(Results(args.results), AttemptId.parse(args.attempt), settings.from_environment())
