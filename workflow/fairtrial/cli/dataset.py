"""fairtrial dataset"""

from __future__ import annotations

import argparse
from pathlib import Path

from fairtrial.cli import _stages

HELP = "merge results into tables: Parquet, the fourteen-column CSV, problems.json"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    _stages.options(parser)
    parser.add_argument("--out", type=Path, help="folder of the tables; default results/<experiment>/dataset")


def run(args: argparse.Namespace) -> int:
    """0; records that cannot be read are named, not fatal."""
    matrix, experiment = _stages.matrix_of(args)
    out = args.out or experiment.dataset
    counts = _stages.dataset(args.results, matrix, out)
    _stages.say_problems(out)
    print(f"{out}: " + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items()))
    return 0
