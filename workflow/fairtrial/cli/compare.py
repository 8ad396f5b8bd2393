"""fairtrial compare"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.cli import _stages

if TYPE_CHECKING:
    import pandas as pd

HELP = "compare two arms, a matched before and after, or harness versions, paired by task"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    _stages.options(parser)
    parser.add_argument("arms", nargs="*", metavar="ARM", help="two arms: harness/toolset/adoption/model or any part")
    parser.add_argument("--before", type=Path, metavar="MANIFEST", help="attempts before one change")
    parser.add_argument("--after", type=Path, metavar="MANIFEST", help="attempts after it")
    parser.add_argument("--versions", action="store_true", help="newest harness version against the previous three")
    parser.add_argument("--manifest", type=Path, metavar="FILE", help="compare within a selection, not an experiment")
    parser.add_argument(
        "--k", type=int, metavar="K", help="k of pass^k; default: attempts per task of the arm with fewer"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write every figure as JSON")


def run(args: argparse.Namespace) -> int:
    """0; prints what may be said and what may not."""
    from fairtrial.analysis import compare_text
    from fairtrial.contracts import records

    record = _record(args)
    for line in compare_text.lines(record):
        print(line)
    if args.out:
        records.dump(args.out, record, durable=False)
        print(f"figures: {args.out}")
    return 0


def _record(args: argparse.Namespace) -> _stages.Json:
    from fairtrial.analysis import compare, compare_versions
    from fairtrial.contracts.errors import UserError

    if args.k is not None and args.k < 1:
        raise UserError(f"--k {args.k}: k is 1 or more")
    if args.before or args.after:
        if not (args.before and args.after) or args.arms or args.versions or args.manifest:
            raise UserError("compare: --before and --after go together and with nothing else but --k and --out")
        (before, told_before), (after, told_after) = _chosen(args.before), _chosen(args.after)
        recipes = told_before["recipes"] | told_after["recipes"]
        return compare.before_after(before, after, told_after | {"recipes": recipes, "k": args.k})
    if args.versions == bool(args.arms) or (args.arms and len(args.arms) != 2):
        raise UserError("compare: name two arms, or --before FILE --after FILE, or --versions")
    frame, settings = _chosen(args.manifest) if args.manifest else _planned(args)
    settings = settings | {"k": args.k}
    if args.versions:
        return compare_versions.versions(frame, settings)
    return compare.compare(frame, args.arms[0], args.arms[1], settings)


def _planned(args: argparse.Namespace) -> tuple[pd.DataFrame, _stages.Json]:
    """The experiment's attempts table; of an unfinished run it is made from what there is by now."""
    matrix, experiment = _stages.matrix_of(args)
    tables = experiment.dataset
    if not (tables / "attempts.parquet").exists() or _stages.of_another_plan(tables, matrix):
        tables = experiment.so_far / "dataset"
        _stages.dataset(args.results, matrix, tables, _stages.folders_of(experiment, matrix))
    return _frame(tables, matrix, ())


def _chosen(manifest: Path) -> tuple[pd.DataFrame, _stages.Json]:
    """The attempts of a manifest, in tables that are thrown away."""
    import tempfile

    from fairtrial.analysis import dataset_selection

    chosen = dataset_selection.from_manifest(manifest)
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as folder:
        tables = Path(folder)
        _stages.chosen_dataset(chosen, tables)
        _stages.say_problems(tables)
        return _frame(tables, chosen.matrix, chosen.folders.values())


def _frame(tables: Path, matrix: Mapping[str, Any], folders: Iterable[Path]) -> tuple[pd.DataFrame, _stages.Json]:
    from fairtrial.analysis import arms, dataset_tables, recipes

    frame: pd.DataFrame = dataset_tables.frame(tables / "attempts.parquet")
    return frame, {"adapters": arms.roles(matrix), "recipes": recipes.records_of(folders)}
