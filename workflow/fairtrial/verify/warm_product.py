"""What a forked child of warm_inside.py does: be `python3 WORDS` from there on, to the end.

Stands before the text of warm_inside.py in a box, where they are the program of one `python3 -c`.
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
import runpy  # noqa: F401
import types

INTERRUPTED, NOT_FLUSHED = 130, 120  # what Python ends with then


def become(words: list[str]) -> None:
    """Do what `python3 WORDS` does once it has started, and end."""
    before = dict(sys.modules)
    status = 0
    try:
        run(words)
    except BaseException as e:
        status = unhandled(e)
    leave(status, before)


def unhandled(e: BaseException) -> int:
    """Say it as Python does; the exit status."""
    if isinstance(e, SystemExit):
        if isinstance(e.code, int):
            return e.code if -(1 << 63) <= e.code < 1 << 63 else -1
        if e.code is not None:
            with contextlib.suppress(Exception):
                print(e.code, file=sys.stderr)
        return int(e.code is not None)
    trace = e.__traceback__
    while trace and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next
    e.__traceback__ = trace  # what is printed, whatever else is handed over
    try:
        sys.excepthook(type(e), e, trace)
    except SystemExit as quits:
        return unhandled(quits)
    except BaseException:
        with contextlib.suppress(Exception):
            print("Error in sys.excepthook:\n\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(e), e, trace)
    return INTERRUPTED if isinstance(e, KeyboardInterrupt) else 1


def leave(status: int, before: dict[str, types.ModuleType]) -> None:
    """What Python does at its end, but for taking itself apart: that takes longer than most programs run.

    `before`: the modules from before the program; what only its own ones held is let go, with its last words.
    """
    with contextlib.suppress(Exception):
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
    atexit._run_exitfuncs()
    flushed = flush()
    sys.stdout, sys.stderr = vars(sys).get("__stdout__"), vars(sys).get("__stderr__")
    with contextlib.suppress(Exception):
        for name in [name for name, module in sys.modules.items() if before.get(name) is not module]:
            del sys.modules[name]
    gc.collect()
    for stream in gc.get_objects():
        with contextlib.suppress(Exception):  # an object may claim any class, and fail at that
            if issubclass(type(stream), io.IOBase):
                stream.flush()
    os._exit(status & 0xFF if flush(flushed) and flushed else status & 0xFF or NOT_FLUSHED)


def flush(aloud: bool = True) -> bool:
    """Write out what was printed; False where that fails. What stands for a stream need not be one."""
    fine = True
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            if stream is None or stream.closed:
                continue
        try:
            stream.flush()
        except Exception as e:
            if aloud and stream is sys.stdout:
                with contextlib.suppress(Exception):
                    print(f"Exception ignored in: {stream!r}\n{type(e).__name__}: {e}", file=sys.stderr, flush=True)
            fine = False
    return fine


def look_first(folder: str) -> None:
    """Modules are found in `folder` before all others, also where it has one with a library's name."""
    sys.path.insert(0, folder)
    forget(os.listdir(folder or "."))


def forget(names: list[str]) -> None:
    """Where one of these files may be a module that was read ahead, none was: what they import may be there too."""
    stems = {name.partition(".")[0] for name in names if "." not in name or name.endswith((".py", ".pyc", ".so"))}
    ahead = sys.modules.keys() - STARTED
    if not stems.isdisjoint(ahead):
        for name in ahead:
            del sys.modules[name]


def run(words: list[str]) -> None:
    """-m MODULE, [-I] -c CODE, or a file, each with arguments."""
    sys.orig_argv[:] = ["python3", *words]
    isolated = words[0] == "-I"
    words = words[isolated:]
    main = types.ModuleType("__main__")
    vars(main).update(__builtins__=builtins, __annotations__={})
    sys.modules["__main__"] = main
    if words[0] == "-m":
        sys.argv[:] = ["-m", *words[2:]]
        look_first(os.getcwd())
        __import__("runpy")._run_module_as_main(words[1])  # what -m itself calls; it may be the workspace's own
        return
    if words[0] == "-c":
        sys.argv[:] = ["-c", *words[2:]]
        if isolated:  # what it adds to its path is not known here
            forget([name for _, folders, files in os.walk(".") for name in (*folders, *files)])
        else:
            look_first("")
        vars(main)["__loader__"] = builtins.__loader__
        code: tuple[str | bytes, str] = words[1], "<string>"
    else:
        sys.argv[:] = words
        path = os.path.join(os.getcwd(), words[0])
        if not os.path.isfile(path):
            sys.stderr.write(f"{sys.executable}: can't open file {path!r}\n")
            sys.exit(2)
        look_first(os.path.dirname(os.path.realpath(path)))
        vars(main).update(__file__=path, __cached__=None)
        vars(main)["__loader__"] = sys.modules["_frozen_importlib_external"].SourceFileLoader("__main__", path)
        with open(path, "rb") as stream:
            code = stream.read(), path
    exec(compile(*code, "exec", dont_inherit=True), vars(main))  # noqa: S102 - the product's program
