"""fairtrial check"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairtrial.authoring.check import Proof

HELP = "prove task packages: start red, reference green, wrong ones caught, no answer within reach"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("tasks", nargs="*", default=["*"], help="id, suite/id, suite, tag:x or a glob; default all")
    parser.add_argument(
        "--tasks-dir", type=Path, action="append", default=[], help="a folder of suites; may be repeated"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="tasks at once; default the CPUs")


def run(args: argparse.Namespace) -> int:
    """0 when every package is proven, 1 otherwise; 130 after Ctrl-C."""
    from fairtrial.cli._interrupted import interrupted

    try:
        return _prove(args)
    except KeyboardInterrupt:
        return interrupted()


def _prove(args: argparse.Namespace) -> int:
    from fairtrial.authoring.check import check_task
    from fairtrial.cli._workers import spread
    from fairtrial.contracts.errors import UserError
    from fairtrial.contracts.schema import data_folder
    from fairtrial.plan import tasks

    if args.jobs < 1:
        raise UserError(f"--jobs {args.jobs}: give 1 or more")
    found = tasks.discover([data_folder("tasks"), *(folder.absolute() for folder in args.tasks_dir)])
    chosen = tasks.select(args.tasks, found)
    wrong = absent = 0
    for proof in spread(check_task, chosen, args.jobs):
        _print(proof)
        wrong += bool(proof.problems)
        absent += bool(proof.absent)
    print(f"{len(chosen) - wrong - absent} of {len(chosen)} tasks proven" + (f", {absent} skipped" if absent else ""))
    return 1 if wrong or (absent and os.environ.get("FAIRTRIAL_NO_SKIP") == "1") else 0


def _print(proof: Proof) -> None:
    word = "FAILED" if proof.problems else "skipped" if proof.absent else "proven"
    print(f"{word:<8} {proof.task}", flush=True)
    missing = [f"{name} is not installed" for name in proof.absent]
    for line in [*proof.problems, *missing, *(f"skipped: {s}" for s in proof.skipped)]:
        print("\n".join(f"         {part}" for part in line.splitlines()), flush=True)
