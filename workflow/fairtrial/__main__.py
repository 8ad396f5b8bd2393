"""The `fairtrial` command: finds the verb's file in cli/ and runs it; a user's mistake is one message, exit code 2."""

from __future__ import annotations

import argparse
import contextlib
import errno
import gc
import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from fairtrial.contracts.errors import Fault, UserError
from fairtrial.contracts.plain import plain

_CLI = Path(__file__).parent / "cli"
# What a path or a disk of the user's may be: no mistake of ours.
_USERS = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG,
                    errno.ELOOP, errno.ENOSPC, errno.EDQUOT})  # fmt: skip
_EFFECTIVE = os.access in os.supports_effective_ids


def verbs() -> list[str]:
    """Every verb, sorted; a file name's trailing underscore (try_.py) keeps clear of Python's words."""
    files = (path.stem for path in _CLI.iterdir() if path.suffix == ".py")
    return sorted(stem.rstrip("_").replace("_", "-") for stem in files if not stem.startswith("_"))


def module(verb: str) -> ModuleType:
    """The module of one verb."""
    stem = verb.replace("-", "_")
    if not (_CLI / f"{stem}.py").exists():
        stem += "_"
    return importlib.import_module(f"fairtrial.cli.{stem}")


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line; argparse prints the whole usage before it. Options are written in full."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False)  # else `--config x=1`, Snakemake's, is read as --configfile

    def error(self, message: str) -> NoReturn:
        hint = self._meant(message) if message.startswith("unrecognized") else ""
        self.exit(2, f"{self.prog}: {plain(message)}{hint}; `{self.prog} --help` says what there is\n")

    def _meant(self, message: str) -> str:
        """The option that the first unknown word is likely to stand for."""
        from fairtrial.contracts.schema import meant

        word = message.partition(": ")[2].split(" ")[0].partition("=")[0]
        known = sorted(self._option_string_actions)
        if word.endswith((".yaml", ".yml")) and "--configfile" in known:
            return " (did you mean '--configfile " + plain(word) + "'?)"
        return meant(word, known) if word.startswith("--") else ""


def parser_of(verb: str) -> argparse.ArgumentParser:
    """The options of one verb."""
    found = module(verb)
    parser = _Parser(prog=f"fairtrial {verb}", description=found.HELP, formatter_class=_formatter)
    found.options(parser)
    return parser


def _formatter(prog: str) -> argparse.HelpFormatter:
    """As wide as the terminal; argparse itself asks shutil, which takes 2 ms to import, at every start."""
    columns = 80
    with contextlib.suppress(OSError, ValueError):
        columns = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size().columns
    return argparse.HelpFormatter(prog, width=columns - 2)


def overview() -> str:
    """The text of `fairtrial --help`."""
    width = max(map(len, verbs()))
    lines = [f"  {verb:<{width}}  {module(verb).HELP}" for verb in verbs()]
    return "usage: fairtrial VERB ...\n\nMeasures coding agents.\n\nverbs:\n" + "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Exit codes: 0 fine, 1 red or faults, 2 usage, 3 a fault in `try`."""
    given = sys.argv[1:] if arguments is None else arguments
    code = 0
    try:
        code = _answer(given)
        sys.stdout.flush()
    except UserError as error:
        sys.stderr.write(f"fairtrial: {plain(str(error))}\n")
        code = 2
    except Fault as fault:
        sys.stderr.write(f"fairtrial: {plain(str(fault))}\n")
        code = 1
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stdout = None
    except OSError as error:
        if error.errno not in _USERS:
            raise
        sys.stderr.write(f"fairtrial: {plain(_told(error))}\n")
        code = 2
    return code


def _answer(given: list[str]) -> int:
    verb = given[0] if given else ""
    if verb in ("", "-h", "--help", "help"):
        sys.stdout.write(overview() + "\n")
        return 0 if given else 2
    if verb == "--version":
        from fairtrial import __version__

        sys.stdout.write(f"fairtrial {__version__}\n")
        return 0
    return int(module(verb).run(parser_of(verb).parse_args(given[1:]))) if verb in verbs() else _unknown(verb)


def _told(error: OSError) -> str:
    """What could not be done where, and which folder would have to be writable for it."""
    names = [Path(os.fsdecode(name)) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
    if not names:
        return f"{_unnamed()}: {error.strerror}"
    said = f"{names[0]}: {error.strerror}"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        unreadable = names[0].is_file() and not os.access(names[0], os.R_OK, effective_ids=_EFFECTIVE)
        closed = None if unreadable else next(filter(None, map(_closed, names)), None)
        said += f"; the folder {closed} must be writable for you" if closed else ""
    return said


def _closed(name: Path) -> Path | None:
    """The folder that is there and in which nothing may be made, renamed or removed; None where it may."""
    folder = next((parent for parent in name.parents if parent.is_dir()), Path())
    return None if os.access(folder, os.W_OK | os.X_OK, effective_ids=_EFFECTIVE) else folder


def _unnamed() -> str:
    """What could not be written: standard output still holds what it could not pass on, or takes nothing at all."""
    try:
        sys.stdout.flush()
        os.write(1, b"")
    except OSError:
        sys.stdout = None
        return "standard output"
    return "a file could not be written"


def _unknown(verb: str) -> int:
    import difflib

    close = difflib.get_close_matches(verb, verbs(), n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    sys.stderr.write(
        f"fairtrial: unknown verb {verb!r}{hint} known: {', '.join(verbs())}\n".replace("? known", "? Known")
    )
    return 2


def _leave(code: int) -> NoReturn:
    """End without taking the interpreter apart, which takes 5 ms; no thread and no exit function is waited for."""
    with contextlib.suppress(BrokenPipeError):  # the reader has seen enough
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    gc.set_threshold(100_000)  # most commands end before there is garbage worth looking for
    _leave(main())
