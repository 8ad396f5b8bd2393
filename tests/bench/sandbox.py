"""Bench: what the box adds between asking for a start and the agent's first output."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fairtrial.contracts.protocols import Bind, Box, Budget
from fairtrial.instruments.sandbox import backends, run

from tests.planned import undisturbed

LIMITS = {"sandbox_start_ms": 15.0} if sys.platform == "linux" else {}
_ROUNDS = 15
_ARGV = ["/bin/sh", "-c", "echo started"]


def _plain_ms() -> float:
    begun = time.monotonic_ns()
    with subprocess.Popen(_ARGV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        return (time.monotonic_ns() - begun) / 1e6


def _boxed_ms(folder: Path, port: int | None) -> float:
    binds = [Bind(folder / "acceptance", "/task/acceptance")]
    box = Box(
        folder / "workspace", folder / "home", _ARGV, binds=binds, network="none" if port is None else "endpoint",
        hidden=[folder / "hidden"], read_only=["/task/acceptance"],
    )  # fmt: skip
    listener = None if port is None else (port, lambda opened: opened.close())
    begun = time.monotonic_ns()
    report = run.run(
        box, Budget(20), stdout=folder / "out", stderr=folder / "err", times=folder / "times", listener=listener
    )
    assert report.exit_status == 0, (folder / "err").read_text()
    first = json.loads((folder / "times").read_text().splitlines()[0])["at_ns"]
    return (report.started_ns + first - begun) / 1e6


def measure() -> dict[str, float]:
    """Medians in ms over a plain start of the same command, in the best back end of this machine."""
    backends.choose("auto")
    figures = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("workspace", "home", "acceptance", "hidden"):
            (folder / part).mkdir()
        with undisturbed():
            plain = statistics.median(_plain_ms() for _ in range(_ROUNDS))
            for figure, port in (("sandbox_start_ms", None), ("sandbox_endpoint_start_ms", 18765)):
                _boxed_ms(folder, port)
                figures[figure] = statistics.median(_boxed_ms(folder, port) for _ in range(_ROUNDS)) - plain
        figures["sandbox_plain_start_ms"] = plain
    return figures
