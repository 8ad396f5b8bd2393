"""fairtrial grade"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "grade sealed evidence and write result.json; free, and repeatable"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("attempt", help="suite/task/harness/model/recipe12/rN, or a path that ends so")
    parser.add_argument("--grade", required=True, help="first 12 digits of the grade digest")
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")


def run(args: argparse.Namespace) -> int:
    """0; the verdict stands in result.json."""
    from fairtrial.grading import grade
    from fairtrial.paths import AttemptId, Results

    grade.run(Results(args.results), AttemptId.parse(args.attempt), args.grade)
    return 0
