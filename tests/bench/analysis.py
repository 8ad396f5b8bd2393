"""CPU seconds of the analysis on fabricated results: merging, scorecard, report; and the size of the page."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests import fabricate

LIMITS: dict[str, float] = {
    "merge of 10,000 results, CPU s": 8,
    "merge with one new attempt, CPU s": 1,
    "report at 10,000 attempts, CPU s": 5,
    "report at 10,000 attempts, MB": 2,
    "dataset + scorecard + report at 10,000, CPU s": 10,
}


def verb(*arguments: str) -> float:
    """CPU seconds of one `fairtrial` command, interpreter start and imports included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("FAIRTRIAL_")}
    subprocess.run(
        [sys.executable, "-m", "fairtrial", *arguments], check=True, env=environment, stdout=subprocess.DEVNULL
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure() -> dict[str, float]:
    """The figures of LIMITS, on one tree of 10,020 attempts of six arms."""
    with tempfile.TemporaryDirectory(prefix="fairtrial-bench-") as folder:
        root = Path(folder) / "results"
        fabricate.tree(root, tasks=334, repetitions=5)
        where = ("--results", str(root))
        newest = next((root / "attempts").glob("*/*/*/*/*/r5/grades/*/result.json"))
        content = newest.read_bytes()
        newest.unlink()
        first = verb("dataset", *where)
        newest.write_bytes(content)
        again = verb("dataset", *where)
        card = verb("scorecard", *where)
        report = verb("report", *where)
        size = (root / "default" / "report" / "index.html").stat().st_size / 1e6
    figures = (first, again, report, size, first + card + report)
    return dict(zip(LIMITS, figures, strict=True))
