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
    """0; the verdict stands in result.json. One that is there is final: a line says so, and nothing is done."""
    from fairtrial.grading import grade
    from fairtrial.paths import AttemptId, Results

    results, attempt_id = Results(args.results), AttemptId.parse(args.attempt)
    attempt = results.attempt(attempt_id)
    if grade.is_whole(attempt.result(args.grade)):
        print(f"{attempt_id}: is graded, and a grade is final: {attempt.result(args.grade)}{_pruned(attempt.folder)}")
    else:
        grade.run(results, attempt_id, args.grade)
    return 0


def _pruned(folder: Path) -> str:
    """Said of an attempt that no grade can be made of any more."""
    from fairtrial.contracts.records import pruned_of

    gone = "agent-stdout.txt" in pruned_of(folder)[0]
    return "; it cannot be graded again, its transcript was pruned" if gone else ""
