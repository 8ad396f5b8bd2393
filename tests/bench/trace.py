"""What one traced command costs over the bare one: medians of differences, bare and traced runs side by side."""

from __future__ import annotations

import importlib.util
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

LIMITS: dict[str, float] = {"trace_compiled_ms": 1.0, "trace_python_ms": 8.0}
PAIRS, BATCHES = 200, 10


def _rig_module():
    spec = importlib.util.spec_from_file_location("trace_rig", Path(__file__).resolve().parents[1] / "trace_rig.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _once(path: str, environment: dict[str, str], ends: tuple[int, int]) -> float:
    actions = [(os.POSIX_SPAWN_DUP2, ends[1], 1)]
    began = time.perf_counter_ns()
    pid = os.posix_spawn(path, ["git", "--version"], environment, file_actions=actions)
    os.read(ends[0], 100)
    os.waitpid(pid, 0)
    return (time.perf_counter_ns() - began) / 1e6


def _pair(bare: str, traced: str, environment: dict[str, str], ends: tuple[int, int]) -> float:
    return -_once(bare, environment, ends) + _once(traced, environment, ends)


def _overhead(kind: str) -> float:
    """Milliseconds, the lowest median of a few batches: a busy machine only ever adds to it."""
    folder = Path(tempfile.mkdtemp())
    rig = _rig_module().Rig(folder, ["git"], kind, sync=False)
    git, ends = shutil.which("git") or "/usr/bin/git", os.pipe()
    try:
        environment, medians = rig.environment(), []
        for _ in range(BATCHES):
            pairs = [_pair(git, f"{rig.shims}/git", environment, ends) for _ in range(PAIRS // BATCHES)]
            medians.append(statistics.median(pairs))
        assert len(rig.stop()) == PAIRS
        return min(medians)
    finally:
        for end in ends:
            os.close(end)
        shutil.rmtree(folder)


def measure() -> dict[str, float]:
    """Milliseconds over a bare `git --version`, for each shim that can be had here."""
    kinds = ["compiled", "python"] if shutil.which("cc") or shutil.which("gcc") else ["python"]
    return {f"trace_{kind}_ms": _overhead(kind) for kind in kinds}
