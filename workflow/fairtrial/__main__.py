"""The `fairtrial` command: finds the verb's file in cli/ and runs it. A user's mistake is one message and exit code 2."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from types import ModuleType

from fairtrial.contracts.errors import Fault, UserError

_CLI = Path(__file__).parent / "cli"


def verbs() -> list[str]:
    """Every verb, sorted; a file name's trailing underscore (try_.py) keeps clear of Python's words."""
    return sorted(p.stem.rstrip("_").replace("_", "-") for p in _CLI.glob("*.py") if not p.stem.startswith("_"))


def module(verb: str) -> ModuleType:
    """The module of one verb."""
    stem = verb.replace("-", "_")
    if not (_CLI / f"{stem}.py").exists():
        stem += "_"
    return importlib.import_module(f"fairtrial.cli.{stem}")


def parser_of(verb: str) -> argparse.ArgumentParser:
    """The options of one verb."""
    found = module(verb)
    parser = argparse.ArgumentParser(prog=f"fairtrial {verb}", description=found.HELP)
    found.options(parser)
    return parser


def overview() -> str:
    """The text of `fairtrial --help`."""
    width = max(map(len, verbs()))
    lines = [f"  {verb:<{width}}  {module(verb).HELP}" for verb in verbs()]
    return "usage: fairtrial VERB ...\n\nMeasures coding agents.\n\nverbs:\n" + "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Exit codes: 0 fine, 1 red or faults, 2 usage, 3 a fault in `try`."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given or given[0] in ("-h", "--help", "help"):
        sys.stdout.write(overview() + "\n")
        return 0 if given else 2
    if given[0] == "--version":
        from fairtrial import __version__

        sys.stdout.write(f"fairtrial {__version__}\n")
        return 0
    if given[0] not in verbs():
        return _unknown(given[0])
    try:
        code: int = module(given[0]).run(parser_of(given[0]).parse_args(given[1:]))
    except UserError as error:
        sys.stderr.write(f"fairtrial: {error}\n")
        return 2
    except Fault as fault:
        sys.stderr.write(f"fairtrial: {fault}\n")
        return 1
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130
    return code


def _unknown(verb: str) -> int:
    import difflib

    close = difflib.get_close_matches(verb, verbs(), n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    sys.stderr.write(f"fairtrial: unknown verb {verb!r}{hint} known: {', '.join(verbs())}\n".replace("? known", "? Known"))
    return 2


if __name__ == "__main__":
    sys.exit(main())
