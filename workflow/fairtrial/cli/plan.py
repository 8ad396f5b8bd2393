"""fairtrial plan"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "freeze the matrix of the configuration and write matrix.json; alone, say what would run"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("--configfile", type=Path, help="an experiment; default config/config.yaml of the checkout")
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")
    parser.add_argument("--write", action="store_true", help="freeze files and write matrix.json (the plan rule does)")
    parser.add_argument("--digest", help="refuse when the matrix is not this one")


def run(args: argparse.Namespace) -> int:
    """0; a mistake in the configuration is a UserError."""
    from fairtrial.cli._configuration import configuration
    from fairtrial.contracts.errors import UserError
    from fairtrial.paths import Results
    from fairtrial.plan import freeze, machine
    from fairtrial.plan.matrix import expand

    config = configuration(args.configfile)
    matrix = expand(config)
    results = Results(args.results)
    if args.digest and args.digest != matrix.record["digest"]:
        raise UserError("tasks or configuration changed while planning; run the same command again")
    experiment = results.experiment(config.settings["name"])
    if args.write:
        freeze.write(matrix, results, experiment)
    missing = _say(matrix.record, results)
    if not args.write:  # a job of the plan rule may run where no agent does
        for line in machine.lacks(config, missing):
            print(f"  warning: {line}")
    return 0


def _say(record: dict[str, object], results: object) -> list[tuple[str, str]]:
    """Print the arms; returns harness and model of those with attempts to run."""
    from fairtrial.capture.spend.gate import missing_by_arm
    from fairtrial.contracts.plain import counted

    rows = missing_by_arm(results, record["cells"])  # type: ignore[arg-type]
    missing = sum(row.missing for row in rows) or "none"
    print(f"{record['name']}: {counted(sum(r.planned for r in rows), 'attempt')}, {missing} missing")
    for row in rows:
        costs = "" if row.free else "  (costs money)"
        print(f"  {row.name:<48} {row.missing or 'none':>6} of {row.planned} missing{costs}")
    for entry in record["skipped"]:  # type: ignore[attr-defined]
        print(f"  skipped: {entry['what']}: {entry['why']}")
    return [(row.arm[0], row.arm[3]) for row in rows if row.missing]
