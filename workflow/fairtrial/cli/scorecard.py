"""fairtrial scorecard"""

from __future__ import annotations

import argparse
from pathlib import Path

from fairtrial.cli import _stages

HELP = "compute the scorecard and every comparison from the tables"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    _stages.options(parser)
    _stages.k_option(parser)
    parser.add_argument("--dataset", type=Path, help="folder of the tables; default results/<experiment>/dataset")
    parser.add_argument("--out", type=Path, help="default results/<experiment>/scorecard")


def run(args: argparse.Namespace) -> int:
    """0."""
    from fairtrial.contracts.errors import UserError

    matrix, experiment = _stages.matrix_of(args)
    tables, out = args.dataset or experiment.dataset, args.out or experiment.scorecard
    if not (tables / "attempts.parquet").exists():
        raise UserError(
            f"{tables}/attempts.parquet: no such file; `fairtrial dataset --name {matrix['name']}` makes it"
        )
    card = _stages.scorecard(tables, matrix, out, args.k)
    print(f"{out / 'scorecard.csv'}: {len(card['arms'])} arms, k = {', '.join(map(str, card['k']))}")
    return 0
