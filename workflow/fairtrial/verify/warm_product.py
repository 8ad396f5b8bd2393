"""What a forked child of warm_inside.py does: be `python3 WORDS` from there on, to the end.

Stands before the text of warm_inside.py in a box, where both are the program of one `python3 -c`.
"""

import sys  # no pathlib: it takes as long to import as everything else here

STARTED = frozenset(sys.modules)  # what every Python has read before it looks at the workspace
if __name__ == "__main__":
    sys.path.pop(0)  # the workspace: nothing in it may stand in for a library here

# Beyond what is used here: what most command lines import, so that it is read once.
import argparse  # noqa: F401
import atexit
import builtins
import contextlib
import csv  # noqa: F401
import dataclasses  # noqa: F401
import datetime  # noqa: F401
import gc
import getopt  # noqa: F401
import io
import os
import runpy
import types

INTERRUPTED, NOT_FLUSHED = 130, 120  # what Python ends with then


def become(words: list[str]) -> None:
    """Do what `python3 WORDS` does once it has started, and end."""
    status = 0
    try:
        run(words)
    except SystemExit as e:
        status = e.code if isinstance(e.code, int) else int(e.code is not None)
        if not isinstance(e.code, int | None):
            print(e.code, file=sys.stderr)
    except BaseException as e:
        status, trace = (INTERRUPTED if isinstance(e, KeyboardInterrupt) else 1), e.__traceback__
        while trace and trace.tb_frame.f_globals is globals():
            trace = trace.tb_next
        sys.excepthook(type(e), e, trace)
    leave(status)


def leave(status: int) -> None:
    """What Python does at its end, but for taking itself apart: that takes longer than most programs run."""
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    atexit._run_exitfuncs()
    for stream in gc.get_objects():
        if isinstance(stream, io.IOBase):
            with contextlib.suppress(Exception):
                stream.flush()
    try:
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            if stream is not None and not stream.closed:
                stream.flush()
    except Exception:
        status = status or NOT_FLUSHED
    os._exit(status & 0xFF)


def look_first(folder: str) -> None:
    """Modules are found in `folder` before all others, also where it has one with a library's name."""
    sys.path.insert(0, folder)
    for stem in {name.partition(".")[0] for name in os.listdir(folder or ".")} - STARTED:
        sys.modules.pop(stem, None)


def run(words: list[str]) -> None:
    """-m MODULE, [-I] -c CODE, or a file, each with arguments."""
    isolated = words[0] == "-I"
    words = words[isolated:]
    main = types.ModuleType("__main__")
    vars(main).update(__builtins__=builtins, __annotations__={})
    sys.modules["__main__"] = main
    if words[0] == "-m":
        sys.argv[:] = ["-m", *words[2:]]
        look_first(os.getcwd())
        runpy._run_module_as_main(words[1])  # type: ignore[attr-defined]  # what -m itself calls
        return
    if words[0] == "-c":
        sys.argv[:] = ["-c", *words[2:]]
        if not isolated:
            look_first("")
        code: tuple[str | bytes, str] = words[1], "<string>"
    else:
        sys.argv[:] = words
        path = os.path.join(os.getcwd(), words[0])
        if not os.path.isfile(path):
            sys.stderr.write(f"{sys.executable}: can't open file {path!r}\n")
            sys.exit(2)
        look_first(os.path.dirname(os.path.realpath(path)))
        vars(main).update(__file__=path, __cached__=None)
        with open(path, "rb") as stream:
            code = stream.read(), path
    exec(compile(*code, "exec", dont_inherit=True), vars(main))  # noqa: S102 - the product's program
