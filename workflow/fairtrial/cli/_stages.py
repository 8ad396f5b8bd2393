"""What the verbs of the analysis share: which experiment, its matrix and prices, and the three stages as functions."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fairtrial.paths import tree_of

Json = dict[str, Any]
MERGED = "merged.json"  # of an experiment made by `dataset --from`: where its attempts are
WHICH = "default: the one run or merged last, else the only one planned, else `default`"


def options(parser: argparse.ArgumentParser) -> None:
    """Which experiment of which results tree."""
    parser.add_argument("--name", help=f"experiment; {WHICH}")
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")


def k_option(parser: argparse.ArgumentParser) -> None:
    """k of pass@k and pass^k."""
    parser.add_argument("--k", type=int, nargs="+", metavar="K", help="k of pass@k and pass^k; default: the matrix's")


def given() -> Json:
    """The configuration a rule was started with, as the Snakefile handed it on; {} by hand."""
    from fairtrial.plan.snake import VARIABLE

    return json.loads(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else {}


def asked(args: argparse.Namespace) -> str | None:
    """The experiment that --name or, in a rule, the configuration names; None: whichever is `usual`."""
    settings = given()
    named = args.name or (settings and settings.get("raw", {}).get("name", "default"))
    return str(named) if named else None


def usual(results: Path) -> str:
    """The experiment that is meant where none is named: WHICH. Also that of `fairtrial status`."""
    from fairtrial.capture.spend import invocation
    from fairtrial.paths import Results

    planned = sorted(path.parent.name for path in results.glob("*/matrix.json"))
    ran = invocation.last_run(Results(results))
    started = max((path.stat().st_mtime for path in results.glob("invocations/*/start.json")), default=0.0)
    found = [(path.stat().st_mtime, path.parent.name) for path in results.glob(f"*/{MERGED}")]
    found += [] if ran is None else [(started, ran)]
    last = max((one for one in found if one[1] in planned), default=(0.0, None))[1]
    return last or (planned[0] if len(planned) == 1 else "default")


def _say_which(name: str, args: argparse.Namespace) -> None:
    """On stderr, which of several experiments was taken for want of a name."""
    import sys

    others = sorted(path.parent.name for path in args.results.glob("*/matrix.json") if path.parent.name != name)
    if others and asked(args) is None:
        sys.stderr.write(f"fairtrial: experiment {name}; --name takes another: {', '.join(others)}\n")


def matrix_of(args: argparse.Namespace) -> tuple[Json, Any]:
    """(matrix.json, paths of the experiment); UserError when nothing is planned."""
    from fairtrial.contracts import records
    from fairtrial.contracts.errors import UserError
    from fairtrial.paths import Results

    name = asked(args) or usual(args.results)
    experiment = Results(args.results).experiment(name)
    if not experiment.matrix.exists():
        known = sorted(path.parent.name for path in args.results.glob("*/matrix.json"))
        raise UserError(
            f"{experiment.matrix}: no such file; planned experiments: {', '.join(known) or 'none'}; "
            f"{'--name takes one of them, ' if known else ''}"
            "`snakemake --cores 2` plans and runs one, `fairtrial plan --write` only plans it"
        )
    record = records.load(experiment.matrix)
    if (
        not {"name", "cells", "digest", "k", "skipped"} <= record.keys()
    ):  # a foreign file; all of it takes longer to read
        records.validate(record, "matrix", str(experiment.matrix))
    _say_which(name, args)
    return record, experiment


def remember(experiment: Any, matrix: Json, folders: Mapping[str, Path]) -> None:
    """Note where the attempts of a merged experiment are, relative to its folder."""
    from fairtrial.contracts import records

    base = experiment.folder.resolve()
    places = {key: os.path.relpath(folder.resolve(), base) for key, folder in sorted(folders.items())}
    records.dump(experiment.folder / MERGED, {"schema_version": 1, "matrix": matrix["digest"], "folders": places})


def folders_of(experiment: Any, matrix: Json) -> dict[str, Path] | None:
    """Attempt -> folder of a merged experiment; None for one whose attempts are in this results tree."""
    from fairtrial.contracts import records

    path = experiment.folder / MERGED
    record = records.load(path, made_by="fairtrial dataset --from") if path.exists() else {}
    if record.get("matrix") != matrix["digest"]:  # planned again since
        return None
    return {key: experiment.folder / place for key, place in record["folders"].items()}


def folders_by_name(experiment: Any) -> dict[str, Path] | None:
    """`folders_of` without a matrix at hand; None where nothing was merged."""
    from fairtrial.contracts import records

    if not (experiment.folder / MERGED).exists() or not experiment.matrix.exists():
        return None
    return folders_of(experiment, records.load(experiment.matrix))


def prices(trees: Iterable[Path], name: str | None = None) -> dict[str, Json]:
    """Model -> price entry. In a rule from the models file of the configuration; by hand as the last run had it.

    By hand nothing says which models file that was, so each run writes its prices down in its results tree; a model
    that none of them knows has the checkout's.
    """
    from fairtrial.capture.spend import invocation
    from fairtrial.cli._configuration import checkout
    from fairtrial.paths import Results
    from fairtrial.plan.config import read_yaml

    settings = given()
    base = Path(settings["basedir"]) if settings else checkout()
    named = settings.get("raw", {}).get("models_file")
    path = Path(named) if named else base / "config" / "models.yaml"
    models = read_yaml(path) if named or path.exists() else {}
    known = {model: entry["price"] for model, entry in models.items() if isinstance(entry, dict) and entry.get("price")}
    return known if settings else {**known, **invocation.prices(map(Results, trees), name)}


def selection(args: argparse.Namespace, verb: str) -> Any:
    """What --attempts or --manifest choose (analysis.dataset_selection), its tables made below --out."""
    from fairtrial.analysis import dataset_selection
    from fairtrial.contracts.errors import UserError

    if args.out is None:
        raise UserError(f"{verb} --attempts and --manifest need --out DIR: a selection belongs to no experiment")
    if args.manifest:
        chosen = dataset_selection.from_manifest(args.manifest)
    else:
        chosen = dataset_selection.from_folders([Path(part) for part in args.attempts.split(",") if part], "--attempts")
    chosen_dataset(chosen, args.out / "dataset")
    return chosen


def dataset(results: Path, matrix: Json, out: Path, folders: Mapping[str, Path] | None = None) -> Json:
    """Stage one: tables, of the trees that `folders` are in where it says where attempts are. Counts by status."""
    from fairtrial.analysis import dataset as stage

    roots = list(dict.fromkeys(map(tree_of, folders.values()))) if folders else [results]
    return stage.build(roots, matrix, out, prices(roots, matrix["name"]), folders)


def of_another_plan(tables: Path, matrix: Json) -> bool:
    """Whether the tables hold other attempts than the matrix plans: they were made before it was planned again."""
    from fairtrial.analysis import dataset as stage
    from fairtrial.analysis import dataset_tables

    told: list[str] = dataset_tables.read(tables / "attempts.parquet", ["attempt_id"])["attempt_id"].to_pylist()
    return told != [one.id for one in stage.plan_of(Path(), matrix)]


def say_of_another_plan(tables: Path, matrix: Json) -> None:
    """On stderr, that these tables are not of this plan."""
    import sys

    if of_another_plan(tables, matrix):
        sys.stderr.write(
            f"fairtrial: {tables}: is of an earlier plan than matrix.json; `snakemake --cores 2` goes on with the run "
            "and makes it anew, report --so-far shows what there is\n"
        )


def chosen_dataset(chosen: Any, out: Path) -> None:
    """The same of a selection."""
    from fairtrial.analysis import dataset as stage

    roots = dict.fromkeys(map(tree_of, chosen.folders.values()))
    stage.build(chosen.results, chosen.matrix, out, prices(roots), chosen.folders, left_out=chosen.left_out)


def scorecard(tables: Path, matrix: Json, out: Path, k: list[int] | None = None) -> Json:
    """Stage two: the scorecard and every comparison. Returns the scorecard."""
    from fairtrial.analysis import arms, compare, dataset_tables, scorecard_files
    from fairtrial.analysis import scorecard as stage
    from fairtrial.contracts import records
    from fairtrial.contracts.errors import UserError

    if k and min(k) < 1:
        raise UserError(f"--k {min(k)}: k is 1 or more")
    frame = dataset_tables.frame(tables / "attempts.parquet")
    card = stage.build(frame, matrix, {"k": k} if k else None)
    scorecard_files.write(card, out)
    pairs = compare.all_pairs(frame, {"adapters": arms.roles(matrix)})
    records.dump(out / "comparisons.json", pairs, durable=False)
    return card


def say_problems(tables: Path) -> None:
    """Name what was left out, on stderr, a few lines of it."""
    import sys

    problems = json.loads((tables / "problems.json").read_bytes())["problems"]
    for line in problems[:10]:
        sys.stderr.write(f"left out: {line['path']}: {line['reason']}\n")
    if len(problems) > 10:
        sys.stderr.write(f"and {len(problems) - 10} more in {tables / 'problems.json'}\n")
