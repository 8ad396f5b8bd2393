"""fairtrial recipes"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fairtrial.cli import _stages

HELP = "list the recipes on disk; --write FILE makes a manifest of their attempts"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")
    for name in ("suite", "task", "harness", "model", "toolset", "adoption", "version"):
        parser.add_argument(f"--{name}", help=f"only this {name}")
    parser.add_argument("--name", help="only what this experiment's matrix plans")
    parser.add_argument("--recipe", nargs="+", default=[], metavar="HEX", help="only recipes that begin so")
    parser.add_argument("--since", metavar="DAY", help="only those last started on or after this day or time (UTC)")
    parser.add_argument("--until", metavar="DAY", help="only those first started on or before this day or time (UTC)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write a manifest of what is listed")
    parser.add_argument("--title", help="the manifest's title")


def run(args: argparse.Namespace) -> int:
    """0; prints one line a recipe."""
    from fairtrial.analysis import recipes
    from fairtrial.contracts.errors import UserError

    if not args.results.is_dir():
        raise UserError(f"--results: {args.results} is not a folder; go where snakemake ran, or name its results tree")
    problems: list[str] = []
    wanted = {name: getattr(args, name) for name in recipes.FILTERS}
    found = recipes.select(recipes.on_disk(args.results, problems), wanted, args.recipe, args.since, args.until)
    if args.name is not None:
        planned = {cell["recipe"] for cell in _stages.matrix_of(args)[0]["cells"]}
        found = [one for one in found if one.recipe in planned]
    for line in problems:
        sys.stderr.write(f"left out: {line}\n")
    for line in recipes.table(found) if found else [f"no such recipe below {args.results}"]:
        print(line)
    if args.write:
        print(f"{args.write}: {recipes.write_manifest(args.write, found, args.title)} attempts")
    return 0
