"""fairtrial export"""

from __future__ import annotations

import argparse
from pathlib import Path

from fairtrial.cli import _stages

HELP = "write results in other formats: evidence, trajectory, junit, predictions"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    from fairtrial import registry

    known = registry.names("fairtrial.analysis.export")
    parser.add_argument("format", help=f"one of: {', '.join(known)}")
    _stages.options(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--attempts", metavar="DIR,DIR", help="attempt folders or results trees, separated by commas")
    which.add_argument("--manifest", type=Path, metavar="FILE", help="a selection: paths relative to the file")
    parser.add_argument("--out", type=Path, help="folder to write to; default results/<experiment>/export/<format>")


def run(args: argparse.Namespace) -> int:
    """0; prints what was written. A secret in the evidence is a UserError, and nothing is written."""
    from fairtrial import registry

    exporter = registry.load("fairtrial.analysis.export", args.format, what="export format")
    source, out = _selection(args) if args.attempts or args.manifest else _experiment(args)
    written = exporter.export(source, out)
    for path in written[:20]:
        print(path)
    if len(written) > 20:
        print(f"and {len(written) - 20} more in {out}")
    if not written:
        print("nothing to export: no attempt has what this format needs")
    return 0


def _experiment(args: argparse.Namespace) -> tuple[object, Path]:
    from fairtrial.analysis.export._source import Source

    matrix, experiment = _stages.matrix_of(args)
    if not (experiment.dataset / "attempts.parquet").exists():
        _stages.dataset(args.results, matrix, experiment.dataset, _stages.folders_of(experiment, matrix))
    _stages.say_of_another_plan(experiment.dataset, matrix)
    report = experiment.report if experiment.report.is_dir() else None
    card = experiment.scorecard if experiment.scorecard.is_dir() else None
    folders = _stages.folders_of(experiment, matrix) or {}
    source = Source(args.results, matrix, experiment.dataset, report, card, folders, _secrets())
    return source, args.out or experiment.folder / "export" / args.format


def _selection(args: argparse.Namespace) -> tuple[object, Path]:
    from fairtrial.analysis.export._source import Source

    chosen, out = _stages.selection(args, "export"), args.out
    return Source(chosen.results, chosen.matrix, out / "dataset", folders=chosen.folders, secrets=_secrets()), out


def _secrets() -> dict[str, str]:
    """Values that harnesses of the configuration may have been handed: keys, key files, the texts of login files."""
    import os

    from fairtrial.cli._configuration import configuration
    from fairtrial.contracts.errors import UserError

    try:
        harnesses = configuration().harnesses
    except UserError:
        return {}
    found: dict[str, str] = {}
    for entry in harnesses.values():
        name = entry.get("key_env")
        if name and os.environ.get(name):
            found[name] = os.environ[name]
        if entry.get("key_file"):
            found |= _file(Path(entry["key_file"]).expanduser(), entry["key_file"])
        for login in entry.get("login_files", []):
            found |= _login(Path.home() / login, login)
    return found


def _file(path: Path, name: str) -> dict[str, str]:
    try:
        return {name: path.read_text(encoding="utf-8").strip()}
    except (OSError, UnicodeDecodeError):
        return {}


def _login(path: Path, name: str) -> dict[str, str]:
    """The long texts of a login file: every value of a JSON file, else every long word."""
    import re

    content = _file(path, name).get(name, "")
    words = set(re.findall(r"[A-Za-z0-9_\-./+=]{20,}", content))
    return {f"{name} ({place})": word for place, word in enumerate(sorted(words), 1)}
