"""fairtrial stop"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "let a run start no further attempt; what runs is finished and graded, the same snakemake command goes on"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("name", nargs="?", help="experiment; default: the only one that is being run")
    parser.add_argument("--reason", default="stopped by fairtrial stop", help="what status and the log say")
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")


def run(args: argparse.Namespace) -> int:
    """0; nothing that runs is a UserError."""
    from fairtrial.paths import Results
    from fairtrial.upkeep import stop

    print(stop.stop(Results(args.results), args.name, args.reason))
    return 0
