"""fairtrial status"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "say how far an experiment is: done, running, left, money, time, last outcomes; from any shell"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("name", nargs="?", help="experiment; default: the one that was run last, else `default`")
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")
    parser.add_argument("--every", type=float, metavar="SECONDS", help="print it again and again until Ctrl-C")


def run(args: argparse.Namespace) -> int:
    """0."""
    import time

    from fairtrial.capture.spend import invocation
    from fairtrial.paths import Results
    from fairtrial.upkeep import status

    results = Results(args.results)
    planned = [path.parent.name for path in args.results.glob("*/matrix.json")]
    last = invocation.last_run(results) or (planned[0] if len(planned) == 1 else "default")
    name = args.name or last
    print(status.status(results, name), flush=True)
    while args.every:
        time.sleep(max(0.1, args.every))
        print(f"\n{status.status(results, name)}", flush=True)
    return 0
