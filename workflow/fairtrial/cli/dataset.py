"""fairtrial dataset"""

from __future__ import annotations

import argparse
from pathlib import Path

from fairtrial.cli import _stages

HELP = "merge results into tables: Parquet, the fourteen-column CSV, problems.json"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    _stages.options(parser)
    parser.add_argument(
        "--from", dest="sources", type=Path, action="append", metavar="TREE",
        help="merge this results tree (or experiment folder) with the others given so; writes below --results; "
             "--name, else `default`, picks the experiment of each tree",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, help="folder of the tables; default results/<experiment>/dataset")


def run(args: argparse.Namespace) -> int:
    """0; records that cannot be read are named, not fatal."""
    if args.sources:
        return merged(args)
    from fairtrial.contracts.errors import UserError

    matrix, experiment = _stages.matrix_of(args)
    if _stages.folders_of(experiment, matrix) is not None:
        raise UserError(
            f"{experiment.folder}: was merged from other results; `fairtrial dataset --from A --from B` does it again"
        )
    out = args.out or experiment.dataset
    counts = _stages.dataset(args.results, matrix, out)
    _stages.say_problems(out)
    say(out, counts)
    return 0


def merged(args: argparse.Namespace) -> int:
    """Merge shards into one experiment of --results: its matrix.json and tables, from which the other stages go on."""
    from fairtrial.analysis import dataset, dataset_merge
    from fairtrial.contracts.errors import UserError
    from fairtrial.contracts.records import dump
    from fairtrial.paths import Results

    found = dataset_merge.merge(args.sources, _stages.asked(args) or "default")
    experiment = Results(args.results).experiment(found.matrix["name"])
    out = args.out or experiment.dataset
    if args.out is None:
        if experiment.matrix.exists() and not (experiment.folder / _stages.MERGED).exists():
            raise UserError(
                f"--results: {experiment.matrix} is the plan of an experiment that was run here, and the merged one "
                "would take its place; name another tree, such as --results merged, or give --out for the tables alone"
            )
        _stages.remember(experiment, found.matrix, found.folders)
        dump(experiment.matrix, found.matrix)
    counts = dataset.build(found.roots, found.matrix, out, _stages.prices(found.roots), found.folders)
    _stages.say_problems(out)
    say(out, counts)
    return 0


def say(out: Path, counts: dict[str, int]) -> None:
    """How many attempts are in which state."""
    print(f"{out}: " + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items()))
