"""fairtrial status"""

from __future__ import annotations

import argparse
from pathlib import Path

from fairtrial.cli import _stages

LEAST = 1.0  # seconds between two looks: each is one `stat` an attempt
MOST = 86_400.0
HELP = "say how far an experiment is: done, running, left, money, time, last outcomes; from any shell"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("name", nargs="?", help=f"experiment; {_stages.WHICH}")
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")
    parser.add_argument(
        "--every", type=float, metavar="SECONDS", help="print it again and again until Ctrl-C; 1 or more"
    )


def run(args: argparse.Namespace) -> int:
    """0."""
    import time

    from fairtrial.contracts.errors import UserError
    from fairtrial.paths import Results
    from fairtrial.upkeep import status

    if args.every is not None and not LEAST <= args.every <= MOST:
        raise UserError(f"--every {args.every:g}: give {LEAST:g} to {MOST:g} seconds")
    results, name = Results(args.results), args.name or _stages.usual(args.results)
    folders = _stages.folders_by_name(results.experiment(name))
    print(status.status(results, name, folders), flush=True)
    while args.every:
        time.sleep(args.every)
        print(f"\n{status.status(results, name, folders)}", flush=True)
    return 0
