"""fairtrial tail"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "follow an attempt that is being run: what its agent prints, until it ends"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("attempt", nargs="?", help="the attempt or a part of its name; default: the only one that runs")
    parser.add_argument(
        "--stderr", dest="what", action="store_const", const="stderr", default="stdout", help="standard error instead"
    )
    parser.add_argument(
        "--requests", dest="what", action="store_const", const="requests", help="model requests instead"
    )
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")


def run(args: argparse.Namespace) -> int:
    """0."""
    import codecs
    import sys

    from fairtrial.contracts.plain import plain
    from fairtrial.paths import Results
    from fairtrial.upkeep import tail

    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    person = sys.stdout.isatty()  # a pipe gets the very bytes

    def show(piece: bytes) -> None:
        sys.stdout.buffer.write(plain(decoder.decode(piece)).encode() if person else piece)
        sys.stdout.buffer.flush()

    results = Results(args.results)
    sys.stderr.write(tail.follow(results, tail.choose(results, args.attempt), args.what, show) + "\n")
    return 0
