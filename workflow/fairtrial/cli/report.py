"""fairtrial report"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial.cli import _stages

if TYPE_CHECKING:
    from fairtrial.paths import Experiment

HELP = "render the report; --so-far of an unfinished run, --attempts or --manifest of chosen attempts"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    _stages.options(parser)
    _stages.k_option(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--so-far", action="store_true", help="tables, scorecard and report of what there is by now")
    which.add_argument("--attempts", metavar="DIR,DIR", help="attempt folders or results trees, separated by commas")
    which.add_argument("--manifest", type=Path, metavar="FILE", help="a selection: paths relative to the file")
    parser.add_argument("--out", type=Path, help="where to write; default results/<experiment>/report")


def run(args: argparse.Namespace) -> int:
    """0; prints the summary and where the page is."""
    if args.attempts or args.manifest:
        return _chosen(args)
    matrix, experiment = _stages.matrix_of(args)
    if args.so_far:
        return _so_far(args, matrix, experiment)
    return _render(args, matrix, experiment)


def _render(args: argparse.Namespace, matrix: _stages.Json, experiment: Experiment) -> int:
    from fairtrial.analysis.report import render
    from fairtrial.contracts.errors import UserError

    for path, verb in ((experiment.dataset / "attempts.parquet", "dataset"),
                       (experiment.scorecard / "scorecard.json", "scorecard")):  # fmt: skip
        if not path.exists():
            raise UserError(
                f"{path}: no such file; `fairtrial {verb} --name {matrix['name']}` makes it; "
                "of an unfinished run: report --so-far"
            )
    _stages.say_of_another_plan(experiment.dataset, matrix)
    if args.k or not (experiment.scorecard / "comparisons.json").exists():
        _stages.scorecard(experiment.dataset, matrix, experiment.scorecard, args.k)
    out = args.out or experiment.report
    folders = _stages.folders_of(experiment, matrix)
    render.build(experiment.dataset, experiment.scorecard, matrix, args.results, out, folders=folders)
    return _say(out)


def _so_far(args: argparse.Namespace, matrix: _stages.Json, experiment: Experiment) -> int:
    from fairtrial.analysis.report import render

    out, folders = args.out or experiment.so_far, _stages.folders_of(experiment, matrix)
    _stages.dataset(args.results, matrix, out / "dataset", folders)
    _stages.scorecard(out / "dataset", matrix, out / "scorecard", args.k)
    render.build(out / "dataset", out / "scorecard", matrix, args.results, out / "report", so_far=True, folders=folders)
    _stages.say_problems(out / "dataset")
    return _say(out / "report")


def _chosen(args: argparse.Namespace) -> int:
    from fairtrial.analysis.report import render

    chosen, out = _stages.selection(args, "report"), args.out
    _stages.scorecard(out / "dataset", chosen.matrix, out / "scorecard", args.k)
    render.build(out / "dataset", out / "scorecard", chosen.matrix, chosen.results, out / "report", chosen=True,
                 folders=chosen.folders)  # fmt: skip
    _stages.say_problems(out / "dataset")
    return _say(out / "report")


def _say(out: Path) -> int:
    print((out / "summary.txt").read_text(encoding="utf-8"))
    print(f"report: {out / 'index.html'}")
    return 0
