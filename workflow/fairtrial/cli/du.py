"""fairtrial du"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "say what the results take on disk, by kind and by arm"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")
    parser.add_argument("--json", action="store_true", help="bytes, as JSON")


def run(args: argparse.Namespace) -> int:
    """0."""
    import json

    from fairtrial.contracts.errors import UserError
    from fairtrial.paths import Results
    from fairtrial.upkeep import du

    if not args.results.is_dir():
        raise UserError(f"--results: {args.results} is not a folder; go where snakemake ran, or name its results tree")
    usage = du.measure(Results(args.results))
    if args.json:
        print(json.dumps(usage.record(), indent=1))
        return 0
    for title, sizes in (("kind", usage.kinds), ("arm", usage.arms)):
        print(f"{title:<40} {'MB':>12}")
        for name, size in sizes.most_common():
            print(f"{name:<40} {size / 1e6:>12.3f}")
    print(f"{'total':<40} {usage.kinds.total() / 1e6:>12.3f}")
    print("`fairtrial prune` drops command output and intermediate snapshots of graded attempts")
    return 0
