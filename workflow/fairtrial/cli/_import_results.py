"""fairtrial import results"""

from __future__ import annotations

import argparse
from pathlib import Path

from fairtrial.cli import _stages

HELP = "read result folders of other tools into tables, marked as foreign, and report on them"


def options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR", help="result folders")
    parser.add_argument("--format", default="rerun-bench", help="the tool that made them; default rerun-bench")
    parser.add_argument("--out", type=Path, required=True, help="where tables, scorecard and report go")
    _stages.k_option(parser)


def run(args: argparse.Namespace) -> int:
    """0; records that cannot be read are named, not fatal."""
    from fairtrial import registry
    from fairtrial.analysis import dataset
    from fairtrial.analysis.report import render

    importer = registry.load("fairtrial.analysis.importers", args.format, what="format of results")
    rows = importer.read(args.folders)
    out: Path = args.out
    dataset.from_rows(rows, out / "dataset")
    _stages.scorecard(out / "dataset", rows["matrix"], out / "scorecard", args.k)
    render.build(out / "dataset", out / "scorecard", rows["matrix"], out, out / "report", chosen=True)
    _stages.say_problems(out / "dataset")
    print((out / "report" / "summary.txt").read_text(encoding="utf-8"))
    print(f"report: {out / 'report' / 'index.html'}")
    return 0
