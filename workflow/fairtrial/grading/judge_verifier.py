"""One run of the verifier: its own process and session, a private channel back, a time limit of its own."""

from __future__ import annotations

import json
import secrets
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairtrial.contracts.protocols import Bind
from fairtrial.grading.judge_box import HOLDER, no_network, prefix, verifier_environment
from fairtrial.grading.judge_report import Run, Said, read_checks, read_exit
from fairtrial.verify.blackbox import BrokenBox, Result, plain_environment, run_child
from fairtrial.verify.files import copy_tree

VERIFIER = "/run/ft/verifier"  # where an `exit` verifier stands in its box
VERDICT = "/run/ft/verdict"


@dataclass(frozen=True, slots=True)
class Bench:
    """Where one verifier run happens: the task's frozen files, the tree to judge, a fresh private folder."""

    task: Path
    tree: Path
    folder: Path
    policy: str


def run_verifier(settings: dict[str, Any], bench: Bench) -> tuple[Said, Run]:
    """Run the verifier once and read what it says. `settings`: gradespec's verifier_settings."""
    bench.folder.mkdir(mode=0o700)
    if settings["format"] == "exit":
        run = _exit_verifier(settings, bench)
        return read_exit(run, next(iter(settings["checks"]), "verify")), run
    nonce = secrets.token_hex(16)
    run = _checks_verifier(settings, bench, nonce)
    return read_checks(run, settings["checks"], nonce), run


def _checks_verifier(settings: dict[str, Any], bench: Bench, nonce: str) -> Run:
    """Outside the product's box, without network; stdout is the private channel, product children never get it."""
    private, home = bench.folder / "private", bench.folder / "home"
    private.mkdir(mode=0o700)
    home.mkdir(mode=0o700)
    program = bench.task / "verifier" / settings["command"][0]
    argv = [str(program), *settings["command"][1:]]
    if program.suffix == ".py":
        argv = [sys.executable, "-I", "-B", "-X", "utf8", *argv]
    boxed = prefix(bench.policy)
    told = {
        "workspace": str(bench.tree), "task": str(bench.task), "prefix": boxed, "nonce": nonce, "report": 1,
        "python": "python3" if boxed else sys.executable, "seconds": settings["seconds"],
    }  # fmt: skip
    named = private / "settings.json"
    named.write_text(json.dumps(told), encoding="utf-8")
    env = verifier_environment(home, named, nonce)
    return _timed([*no_network(), *argv], tuple(argv), home, float(settings["seconds"]), env)


def _exit_verifier(settings: dict[str, Any], bench: Bench) -> Run:
    """An imported verifier runs product code in its own process, so the whole of it goes into the box."""
    work, verdict = bench.folder / "work", bench.folder / "verdict"
    copy_tree(bench.tree, work)
    verdict.mkdir(mode=0o700)
    source = bench.task / "verifier"
    binds = [Bind(source, VERIFIER), Bind(verdict, VERDICT, writable=True)]
    boxed = prefix(bench.policy, binds)
    where, answer = (VERIFIER, VERDICT) if boxed else (str(source), str(verdict))
    program = f"{where}/{settings['command'][0]}"
    argv = [program, *settings["command"][1:]]
    if program.endswith(".py"):
        argv = ["python3" if boxed else sys.executable, "-B", *argv]
    argv = ["env", f"VERDICT_FILE={answer}/verdict.json", *argv]
    full = [part.replace(HOLDER, str(work)) for part in boxed] + argv
    env = {} if boxed else plain_environment(work)
    run = _timed(full, tuple(argv), work, float(settings["seconds"]), env)
    file = verdict / "verdict.json"
    written = file.read_bytes()[: 1 << 20] if file.is_file() and not file.is_symlink() else b""
    return Run(run.status, run.report, run.log, run.timed_out, run.seconds, written)


def _timed(full: list[str], argv: tuple[str, ...], folder: Path, seconds: float, env: dict[str, str]) -> Run:
    began = time.monotonic()
    try:
        result: Result = run_child(full, argv, folder, stdin=b"", seconds=seconds, env=env)
    except BrokenBox as e:
        return Run(126, b"", str(e).encode(), False, time.monotonic() - began)
    return Run(result.status, result.stdout, result.stderr, result.timed_out, time.monotonic() - began)
