"""fairtrial recipes"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.cli import _stages
from fairtrial.paths import planned_by

if TYPE_CHECKING:
    from fairtrial.analysis.recipes import Recipe

HELP = "list the recipes on disk; --write FILE makes a manifest of their attempts"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")
    for name in ("suite", "task", "harness", "model", "toolset", "adoption", "version"):
        parser.add_argument(f"--{name}", help=f"only this {name}")
    parser.add_argument("--name", help="only the attempts that this experiment's matrix plans")
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
        found = _planned(found, _stages.matrix_of(args)[0]["cells"])
    for line in problems:
        sys.stderr.write(f"left out: {line}\n")
    for line in recipes.table(found) if found else [f"no such recipe below {args.results}"]:
        print(line)
    if args.write:
        print(f"{args.write}: {recipes.write_manifest(args.write, found, args.title)} attempts")
    return 0


def _planned(found: list[Recipe], cells: list[dict[str, Any]]) -> list[Recipe]:
    """The recipes with the attempts that stand in a matrix, and no more repetitions than its own."""
    ids = {Path(name) for cell in cells for name in planned_by(cell)}
    kept = []
    for one in found:
        attempts = [folder for folder in one.attempts if Path(*folder.parts[-6:]) in ids]
        if attempts:
            kept.append(dataclasses.replace(one, attempts=attempts))
    return kept
