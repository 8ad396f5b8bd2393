"""fairtrial try"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "run one attempt outside any matrix; prints its CSV row as JSON; exit 0 green, 1 not, 3 a fault"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.description = HELP + ". Naming a harness that costs money is the permission to spend on this one attempt."
    parser.add_argument("task", help="id or suite/id")
    parser.add_argument("--harness", help="from config/harnesses.yaml; with --agent-cmd its name, default `try`")
    parser.add_argument("--model", default="default", help="from config/models.yaml")
    parser.add_argument("--toolset", default="git", help="git, jj or but; default git")
    parser.add_argument("--agent-cmd", metavar="T", help="template with {prompt}, {prompt_file}, {workspace}, {model}")
    parser.add_argument("--output", choices=["claude-json", "last-line-json", "none"], help="what --agent-cmd prints")
    parser.add_argument("--green-cmd", metavar="T", help="instead of the task's own green command")
    parser.add_argument("--network", choices=["none", "endpoint", "host"], help="default: what the harness needs")
    parser.add_argument("--wall-seconds", type=float, help="instead of the task's own budget")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="append the row to FILE")
    parser.add_argument(
        "--tasks-dir", type=Path, action="append", default=[], help="a folder of suites; may be repeated"
    )
    parser.add_argument("--results", type=Path, default=Path("results"), help="results tree; default ./results")


def run(args: argparse.Namespace) -> int:
    """0 green, 1 red, 3 a fault."""
    import json

    from fairtrial.upkeep import once

    if args.csv is not None:
        once.writable(args.csv)
    row, green = once.run_once(
        once.Wanted(**{k: v for k, v in vars(args).items() if k not in ("csv", "results")}), args.results
    )
    if args.csv is not None and row is not None:
        once.append_row(args.csv, row)
    if row is not None:
        print(json.dumps(row, ensure_ascii=False, indent=1))
    return 3 if row is None or green is None else 0 if green else 1
