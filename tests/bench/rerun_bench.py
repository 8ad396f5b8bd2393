"""Ratios to rerun-bench 0.3.0, which is installed into an environment of its own; below 1 we are faster.

Report: CPU seconds of scorecard and report over those of its `report`, on the same fabricated attempts. Ours starts
from the tables, theirs from its own files. Theirs is stopped after two minutes; the ratio is then an upper bound.

Run: its ten bundled tasks with simulated agents, three times each, two at once. Ours is `snakemake --cores 2` with the
stand-in, from the plan to the report; theirs `run --agent mock` with its summary. No limit: its mock changes files in
its own process, ours is a program in a box, traced, sealed and graded in another box.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from tests.lab import Lab

VERSION = "0.3.0"
LONGEST = 120.0
SHAPES = {
    "10,000 (100 x 100)": (100, 100),
    "100,000 (100 x 1,000)": (100, 1_000),
    "100,000 (10 x 10,000)": (10, 10_000),
}
RUNS = 3
SLOW = True  # the other program takes minutes at 10 x 10,000
LIMITS = {f"report / rerun-bench report, {name}": 1.0 for name in SHAPES if name.startswith("100,000")}
OURS = """
import json, sys
from pathlib import Path
from fairtrial.analysis.report import render
from fairtrial.cli import _stages
out = Path(sys.argv[1])
matrix = json.loads((out / "matrix.json").read_bytes())
_stages.scorecard(out / "dataset", matrix, out / "scorecard")
render.build(out / "dataset", out / "scorecard", matrix, out, out / "report", chosen=True)
"""
TABLES = """
import json, sys
from pathlib import Path
from fairtrial.analysis import dataset
from fairtrial.analysis.importers import rerun_bench
rows = rerun_bench.read([Path(sys.argv[2])])
dataset.from_rows(rows, Path(sys.argv[1]) / "dataset")
(Path(sys.argv[1]) / "matrix.json").write_text(json.dumps(rows["matrix"]))
"""


def fabricate(folder: Path, tasks: int, repetitions: int) -> Path:
    """One result folder of rerun-bench; fifty different changes a task."""
    run = folder / "claude_m_1"
    names = [f"task-{number:03d}" for number in range(tasks)]
    draw = random.Random(1)
    for name in names:
        (run / "diffs" / name).mkdir(parents=True)
        for number in range(min(50, repetitions)):
            body = f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+new {number % 7}\n+same\n"
            (run / "diffs" / name / f"run{number:03d}.diff").write_text(body)
    meta = {
        "schema_version": 1, "run_id": run.name, "rerun_bench_version": VERSION, "agent": "claude", "model": "m-1",
        "agent_options": {}, "cli_version": "2.1.0", "runs_per_task": repetitions, "seed": 0, "tasks": names,
        "started_at": "2026-01-05T09:00:00+00:00", "platform": "Linux", "finished_at": "2026-01-05T10:00:00+00:00",
        "elapsed_s": 3600.0,
    }  # fmt: skip
    (run / "meta.json").write_text(json.dumps(meta))
    with (run / "runs.jsonl").open("w", encoding="utf-8") as stream:
        for name in names:
            for number in range(repetitions):
                stream.write(json.dumps(_line(name, number, draw)) + "\n")
    return folder


def _line(task: str, number: int, draw: random.Random) -> dict[str, object]:
    tokens = draw.randrange(1000, 9000)
    return {
        "task_id": task, "run_index": number, "started_at": "2026-01-05T09:00:00+00:00", "passed": draw.random() < 0.7,
        "agent_error": None, "agent_exit_code": 0, "agent_stderr_tail": "", "agent_stdout_tail": "", "is_error": False,
        "agent_timed_out": False, "cache_read_tokens": 11_222, "cache_write_tokens": 0, "cost_usd": tokens / 1e5,
        "diff_path": f"diffs/{task}/run{number % 50:03d}.diff", "extra": {}, "files_changed": ["x"],
        "input_tokens": tokens, "lines_added": 2, "lines_removed": 1, "model": "m-1", "num_turns": 3,
        "output_tokens": 1983, "total_tokens": tokens + 13_205, "verify_exit_code": 0, "verify_output_tail": "",
        "verify_timed_out": False, "wall_time_s": draw.uniform(20, 200), "workspace": None,
    }  # fmt: skip


def cpu(*command: str | Path) -> float:
    """CPU seconds of one program, of at most two minutes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("FAIRTRIAL_")}
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [str(part) for part in command], check=True, env=environment, stdout=subprocess.DEVNULL, timeout=LONGEST
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def spent(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    """(CPU seconds, wall seconds) of one program and its children."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, time.monotonic() - began


def running(root: Path, bin_: Path) -> dict[str, float]:
    """Whole runs of the same tasks with simulated agents that do not sleep, two at once."""
    where = [str(bin_ / "python"), "-c", "import rerun_bench; print(rerun_bench.__path__[0])"]
    theirs = Path(subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip())
    folder = root / "lab"
    folder.mkdir()
    lab = Lab(folder, [], {"tasks": ["bundled"], "harnesses": ["stand-in"], "repetitions": RUNS})
    lab.harnesses["stand-in"] = {"options": {"mean_seconds": 0, "pass_probability": 0.8}}
    lab.write()
    taken = lab.fairtrial("import", "tasks", "rerun-bench", str(theirs / "_bundled_tasks"), "--into", "suites/bundled")
    assert taken.returncode == 0, taken.stdout + taken.stderr
    ours_cpu, ours_wall = spent(lab.command("--quiet"), folder, lab.environment())
    count = len(lab.graded())
    mock = [str(bin_ / "rerun-bench"), "run", "--agent", "mock", "--runs", str(RUNS), "--jobs", "2", "--quiet"]
    cpu_, wall = spent([*mock, "--out", str(root / "mock")], root, dict(os.environ))
    assert count == sum(len(path.read_text().splitlines()) for path in (root / "mock").glob("*/runs.jsonl"))
    return {
        f"run / rerun-bench run --agent mock, {count} attempts, CPU": ours_cpu / cpu_,
        f"run / rerun-bench run --agent mock, {count} attempts, wall": ours_wall / wall,
        "CPU s an attempt, whole run": ours_cpu / count,
        "CPU s an attempt, rerun-bench mock": cpu_ / count,
    }


def measure() -> dict[str, float]:
    """Ratios by shape, and of whole runs."""
    figures = {}
    with tempfile.TemporaryDirectory(prefix="fairtrial-bench-") as name:
        root = Path(name)
        venv.create(root / "theirs", with_pip=True)
        bin_ = root / "theirs" / "bin"
        install = [bin_ / "python", "-m", "pip", "install", "--quiet", f"rerun-bench=={VERSION}"]
        subprocess.run([str(part) for part in install], check=True)
        figures |= running(root, bin_)
        for shape, (tasks, repetitions) in SHAPES.items():
            runs, out = fabricate(root / shape / "runs", tasks, repetitions), root / shape / "ours"
            cpu(sys.executable, "-c", TABLES, out, runs)
            ours = cpu(sys.executable, "-c", OURS, out)
            theirs = cpu(bin_ / "rerun-bench", "report", runs, "--format", "html", "-o", root / "theirs.html")
            figures[f"report / rerun-bench report, {shape}"] = ours / theirs
    return figures
