"""One run of the verifier: its own process and session, a private channel back, a time limit of its own."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from fairtrial.contracts.protocols import RUN, Bind
from fairtrial.grading.judge_box import Boxes, no_network, verifier_environment
from fairtrial.grading.judge_report import Run, Said, read_checks, read_exit
from fairtrial.verify.blackbox import run_child
from fairtrial.verify.files import copy_tree

VERIFIER = f"{RUN}/verifier"  # where an `exit` verifier stands in its box
VERDICT = f"{RUN}/verdict"


def run_verifier(settings: dict[str, Any], task: Path, tree: Path, boxes: Boxes) -> tuple[Said, Run]:
    """Run the verifier of `task` once on `tree` and read what it says. `settings`: gradespec's verifier_settings."""
    folder = boxes.place()
    folder.mkdir(mode=0o700)
    began = time.monotonic()
    if settings["format"] == "exit":
        run = _exit_verifier(settings, task / "verifier", tree, folder, boxes)
        run.seconds = time.monotonic() - began
        return read_exit(run, next(iter(settings["checks"]), "verify")), run
    nonce = os.urandom(16).hex()
    run = _checks_verifier(settings, {"task": str(task), "workspace": str(tree), "nonce": nonce}, folder, boxes)
    run.seconds = time.monotonic() - began
    return read_checks(run, settings["checks"], nonce), run


def compile_modules(settings: dict[str, Any], verifier: Path) -> None:
    """Keep the bytecode of what the verifier's program imports from its folder: worth it where it is run many times.

    Only for verifiers whose product cannot reach the folder, because bytecode is not looked at when the task's files
    are hashed.
    """
    names = {path for path in verifier.glob("*.py") if path.name != settings["command"][0]}
    if settings["format"] == "exit" or not names:
        return
    import py_compile

    for path in names:
        with contextlib.suppress(py_compile.PyCompileError, OSError):
            py_compile.compile(str(path), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)


def _checks_verifier(settings: dict[str, Any], told: dict[str, Any], folder: Path, boxes: Boxes) -> Run:
    """Outside the product's box, without network; stdout is the private channel, product children never get it."""
    private, home = folder / "private", folder / "home"
    private.mkdir(mode=0o700)
    home.mkdir(mode=0o700)
    program = Path(told["task"]) / "verifier" / settings["command"][0]
    argv = [str(program), *settings["command"][1:]]
    if program.suffix == ".py":
        argv = [sys.executable, "-I", "-B", "-X", "utf8", *argv]
    seconds = float(settings["seconds"])
    told |= {"prefix": boxes.prefix(), "report": 1, "python": boxes.python(), "seconds": seconds}
    named = private / "settings.json"
    named.write_text(json.dumps(told), encoding="utf-8")
    env = verifier_environment(home, named, told["nonce"])
    done = run_child([*no_network(), *argv], tuple(argv), home, stdin=b"", seconds=seconds, env=env)
    return Run(done.status, done.stdout, done.stderr, done.timed_out)


def _exit_verifier(settings: dict[str, Any], source: Path, tree: Path, folder: Path, boxes: Boxes) -> Run:
    """An imported verifier runs product code in its own process, so the whole of it goes into the box."""
    work, verdict = folder / "work", folder / "verdict"
    copy_tree(tree, work)
    verdict.mkdir(mode=0o700)
    program = f"{VERIFIER}/{settings['command'][0]}"
    argv = [*(["python3", "-B"] if program.endswith(".py") else []), program, *settings["command"][1:]]
    argv = ["env", f"VERDICT_FILE={VERDICT}/verdict.json", *argv]
    binds = [Bind(source, VERIFIER), Bind(verdict, VERDICT, writable=True)]
    done = boxes.run(argv, work, float(settings["seconds"]), binds)
    written = b""
    with contextlib.suppress(OSError):
        file = verdict / "verdict.json"
        written = file.read_bytes()[: 1 << 20] if file.is_file() and not file.is_symlink() else b""
    return Run(done.status, done.stdout, done.stderr, done.timed_out, verdict_file=written)
