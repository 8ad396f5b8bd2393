"""fairtrial prune"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "drop command output and intermediate snapshots of graded attempts; never a seal, a final tree or a result"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")
    parser.add_argument("--streams", action="store_true", help="also the agents' raw output: no regrade after that")
    parser.add_argument("--dry-run", action="store_true", help="say what would be dropped")


def run(args: argparse.Namespace) -> int:
    """0; attempts that cannot be pruned are named."""
    from fairtrial.contracts.errors import UserError
    from fairtrial.contracts.plain import counted
    from fairtrial.paths import Results
    from fairtrial.upkeep import prune

    if not args.results.is_dir():
        raise UserError(f"--results: {args.results} is not a folder; go where snakemake ran, or name its results tree")
    done = prune.prune(Results(args.results), streams=args.streams, dry=args.dry_run)
    what = "would drop" if args.dry_run else "dropped"
    parts = (
        f"{counted(done.files, 'file')} and {counted(done.trees, 'snapshot')} of {counted(done.attempts, 'attempt')}"
    )
    print(f"{what} {parts}, {done.freed / 1e6:.1f} MB")
    for attempt, why in done.skipped.items():
        print(f"left alone: {attempt}: {why}")
    if done.attempts:
        given = {"output": bool(done.files), "trees": bool(done.trees), "streams": args.streams}
        for key, is_gone in given.items():
            if is_gone:
                print(f"from now on: {prune.LOST[key]}")
        print("pruned.json beside each seal names what is gone; no attempt is run again for it")
    return 0
