"""fairtrial import; what can be imported is a file _import_<what>.py beside this one"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from types import ModuleType

HELP = "bring in what other tools made: `import results`, `import tasks`"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    for name, module in _kinds().items():
        module.options(kinds.add_parser(name, help=module.HELP, description=module.HELP))


def run(args: argparse.Namespace) -> int:
    """What the kind's own command returns."""
    code: int = _kinds()[args.what].run(args)
    return code


def _kinds() -> dict[str, ModuleType]:
    names = sorted(path.stem for path in Path(__file__).parent.glob("_import_*.py"))
    return {name.removeprefix("_import_"): importlib.import_module(f"fairtrial.cli.{name}") for name in names}
