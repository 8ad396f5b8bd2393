"""The checks of one verifier: registered by name, run in order, reported once on the private channel."""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairtrial.verify import files as product_files
from fairtrial.verify.blackbox import DRIVER, Failed, Result, answer, decoded, plain_environment, run_child
from fairtrial.verify.settings import read_settings, report_channel, scratch_folder
from fairtrial.verify.warm import WarmPython

CRASHED = 3  # exit status after a mistake in the verifier itself
SHARE = 0.8  # of the verifier's time limit that product code may use, so that its hangs end as failed checks
KILLED = -9
Files = Mapping[str, bytes | str]


class Verification:
    """The checks of one verifier and the black box they look into."""

    def __init__(self) -> None:
        settings = read_settings()
        self.workspace = Path(settings["workspace"])  # the final tree, acceptance and protected files restored
        self.task = Path(settings["task"])  # the task's frozen files: workspace, acceptance, solution, verifier
        self._prefix: list[str] = list(settings.get("prefix") or [])
        self._python: str = settings.get("python") or "python3"
        self._nonce: str = settings.get("nonce") or ""
        self._deadline = time.monotonic() + SHARE * float(settings.get("seconds") or 600)
        self._report = report_channel(settings.get("report"))
        self._alone: bool = settings.get("report") == 1  # this process is for nothing else
        self._checks: dict[str, Callable[[], None]] = {}
        self._scratch = scratch_folder()
        self._copies = 0
        self._warm: WarmPython | None = None
        self._finished = False
        if not isinstance(settings.get("report"), str):  # this process is the verifier's own
            atexit.register(self._ended, os.getpid())

    def check(self, name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
        """Register a check; it passes when it returns and fails by Failed or AssertionError."""

        def register(function: Callable[[], None]) -> Callable[[], None]:
            if name in self._checks:
                raise ValueError(f"check {name!r} is defined twice")
            self._checks[name] = function
            return function

        return register

    def copy(self, files: Files | None = None) -> Path:
        """A fresh, writable copy of the workspace with `files` (relative path -> content) laid over it."""
        self._copies += 1
        folder = self._scratch / f"copy{self._copies}"
        product_files.copy_tree(self.workspace, folder)
        acceptance = self.task / "acceptance"
        if any(acceptance.glob("*")) and not any((folder / "acceptance").glob("*")):
            product_files.copy_tree(acceptance, folder / "acceptance")
        product_files.lay(folder, files or {})
        return folder

    def run(
        self,
        argv: Sequence[str],
        *,
        files: Files | None = None,
        stdin: bytes = b"",
        timeout: float = 10.0,
        env: Mapping[str, str] | None = None,
        at: Path | None = None,
    ) -> Result:
        """Run a product command in a boxed child; a hang or a crash is in the Result and never raises.

        Args: argv as inside the box (workspace at /task, cwd there); files laid over the workspace first; timeout in
        seconds; env added to the box's own; at: an earlier Result.folder or copy(), so that commands share a state.
        """
        folder = self.copy() if at is None else at
        product_files.lay(folder, files or {})
        inner = [*(["env", *(f"{k}={v}" for k, v in env.items())] if env else []), *argv]
        boxed = [part.replace("{workspace}", str(folder)) for part in self._prefix] + inner
        limit = min(timeout, self._deadline - time.monotonic())
        if limit <= 0:
            why = b"not started: earlier commands used up the time"
            return Result(tuple(argv), KILLED, b"", why, True, False, folder)
        outside = {} if self._prefix else plain_environment(self._scratch)
        return run_child(boxed, tuple(argv), folder, stdin=stdin, seconds=limit, env=outside)

    def python(
        self, argv: Sequence[str], *, files: Files | None = None, stdin: bytes = b"", timeout: float = 10.0
    ) -> Result:
        """Like run(["python3", *argv]), much cheaper for many commands: forked from one started interpreter in one box.

        argv: -m MODULE, -c CODE or a .py file below the workspace, and arguments. Before each command the workspace is
        as it was, HOME and /tmp are empty and nothing runs; what it writes is gone when it has ended, so the Result's
        folder is no place to look. All commands share one hash seed; calls may nest four deep less. Without a box, or
        with other words, it is run() itself.
        """
        limit = min(timeout, self._deadline - time.monotonic())
        known = argv[0] in ("-m", "-c") or list(argv[:2]) == ["-I", "-c"] or argv[0].endswith(".py")
        warm = self._warmed() if self._prefix and limit > 0 and known else None
        if warm is None:
            options = ["-B", "-X", "utf8"] if argv[0] == "-I" else []
            return self.run([self._python, *options, *argv], files=files, stdin=stdin, timeout=timeout)
        return warm.run(argv, files=files or {}, stdin=stdin, seconds=limit, gone=self._scratch / "gone")

    def _warmed(self) -> WarmPython | None:
        """The warm box, a new one where the last was broken by a command; None where it cannot be had."""
        if self._warm is not None and not self._warm.stood:
            return None
        if self._warm is None or not self._warm.ready:
            folder = self.copy()
            boxed = [part.replace("{workspace}", str(folder)) for part in self._prefix]
            self._warm = WarmPython(boxed, self._python, folder)
        return self._warm if self._warm.ready else None

    def ok(self, result: Result) -> Result:
        """The result itself when its status is 0; Failed otherwise."""
        if result.timed_out:
            raise Failed(str(result), "timeout")
        if result.status != 0:
            raise Failed(str(result), "crash" if result.status < 0 else "status")
        return result

    def call(
        self,
        module: str,
        function: str,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        timeout: float = 10.0,
        path: str = ".",
        files: Files | None = None,
    ) -> Any:
        """The JSON value a Python function of the product returns; `path` is the import root below the workspace.

        Raises Failed on a hang, a crash, an exception (`raised` holds its class names) or a value that is not plain
        JSON: exact None, bool, int, finite float, str, list, dict with str keys.
        """
        return self.calls(module, function, [(args, kwargs or {})], timeout=timeout, path=path, files=files)[0]

    def calls(
        self,
        module: str,
        function: str,
        arguments: Sequence[tuple[Sequence[Any], Mapping[str, Any]]],
        *,
        timeout: float = 10.0,
        path: str = ".",
        files: Files | None = None,
    ) -> list[Any]:
        """Like call, for many (args, kwargs) in one child: much cheaper for a grid of inputs. Same order."""
        asked: list[dict[str, Any]] = [
            {"args": list(a), "kwargs": dict(k), "nonce": os.urandom(16).hex()} for a, k in arguments
        ]
        ask = json.dumps({"path": path, "module": module, "function": function, "calls": asked}).encode()
        result = self.python(["-I", "-c", DRIVER], files=files, stdin=ask, timeout=timeout)
        return [answer(result, c["nonce"], f"{module}.{function}({_arguments(c)})") for c in asked]

    def raises(self, exception: str, module: str, function: str, args: Sequence[Any] = (), **options: Any) -> None:
        """Failed unless the product's function raises the named class (or a subclass of it). Options as for call."""
        try:
            value = self.call(module, function, args, **options)
        except Failed as e:
            if e.kind == "exception" and exception in e.raised:
                return
            raise
        raise Failed(f"{module}.{function}: no {exception}, returned {_short(value)}", "exception")

    def read(self, path: str, folder: Path | None = None) -> bytes:
        """A regular product file (below `folder`, default the workspace); Failed when missing or behind a link."""
        return product_files.read(folder or self.workspace, path)

    def text(self, path: str, folder: Path | None = None) -> str:
        """A product file as UTF-8 text; Failed as in read, or when it is not UTF-8."""
        return decoded(self.read(path, folder), path)

    def equal(self, got: Any, want: Any, what: str = "value") -> None:
        """Failed unless both are the same plain JSON-like value with the same types all the way down."""
        try:
            same = _same(got, want)
        except RecursionError:
            same = False
        if not same:
            raise Failed(f"{what}: got {_short(got)}, want {_short(want)}", "value")

    def finish(self) -> None:
        """Run the checks in order and write the one report; a mistake in the verifier itself exits with status 3."""
        self._finished = True
        report: dict[str, Any] = {"nonce": self._nonce, "checks": []}
        for name, function in self._checks.items():
            try:
                passed, detail = self._outcome(function)
            except Exception as e:  # a mistake of the verifier's: no verdict, said by name
                import traceback

                traceback.print_exc()
                report["error"] = {"check": name, "detail": f"{type(e).__name__}: {e}"[:2000]}
                break
            report["checks"].append({"name": name, "passed": passed, "detail": detail})
        self._remove_copies()
        with os.fdopen(self._report, "wb") as channel:
            channel.write(json.dumps(report).encode() + b"\n")
        if self._alone:
            gc.freeze()  # the end of a process looks through all it has; a tenth of a verifier's time
        if "error" in report:
            sys.exit(CRASHED)

    def _ended(self, verifier: int) -> None:
        """At the end of the process `verifier`: without finish() nothing is reported, so say that it is missing."""
        if self._finished or os.getpid() != verifier:
            return
        self._remove_copies()
        if not hasattr(sys, "last_type"):  # no exception ended it, whose traceback would say enough
            sys.stderr.write("the verifier ended without v.finish(), which runs the checks and prints the report\n")

    def _outcome(self, function: Callable[[], None]) -> tuple[bool, str]:
        try:
            function()
        except (Failed, AssertionError) as e:
            return False, self._said(str(e) or type(e).__name__)
        except OSError as e:
            # A product file that is not there or cannot be read is the product's failing, not the verifier's.
            if str(e.filename or "").startswith((str(self.workspace), str(self._scratch))):
                return False, self._said(f"{type(e).__name__}: {e}")
            raise
        return True, ""

    def _said(self, text: str) -> str:
        """Without the folders of this one grading, so that equal products are told off in equal words."""
        text = text.replace(str(self.workspace), "/task")
        for number in range(self._copies, 0, -1):
            text = text.replace(str(self._scratch / f"copy{number}"), "/task")
        return text[:4000]

    def _remove_copies(self) -> None:
        if self._warm is not None:
            self._warm.close()
        with contextlib.suppress(OSError):
            product_files.remove(self._scratch)


def _same(got: Any, want: Any) -> bool:
    if type(got) is not type(want):
        return False
    if isinstance(want, list | tuple):
        return len(got) == len(want) and all(_same(g, w) for g, w in zip(got, want, strict=True))
    if isinstance(want, dict):
        return list(map(type, sorted(got, key=str))) == list(map(type, sorted(want, key=str))) and (
            got.keys() == want.keys() and all(_same(got[k], want[k]) for k in want)
        )
    return bool(got == want)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 500 else text[:400] + f"... ({len(text)} characters)"


def _arguments(call: Mapping[str, Any]) -> str:
    parts = [*map(repr, call["args"]), *(f"{k}={v!r}" for k, v in call["kwargs"].items())]
    return ", ".join(parts)[:200]
