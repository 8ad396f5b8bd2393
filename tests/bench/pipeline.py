"""What fairtrial itself costs: an attempt and its grade, the wait before an agent starts, plans with nothing to do."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fairtrial.plan import config, snake

from tests.lab import CHECKOUT, Lab
from tests.planned import Cost, cost, planned, undisturbed

LIMITS: dict[str, float] = {
    "overhead of attempt + grade, CPU ms": 250,
    "stage command to start of the agent, ms": 80,
    "demo, 90 attempts on two cores, s": 60,
    "smoke-vc, 18 attempts on two cores, s": 15,
    "snakemake -n, nothing to do, 100 attempts, CPU s": 1.8,
    "snakemake -n, nothing to do, 10,000 attempts, CPU s": 15,
    "snakemake -n, nothing to do, 10,000 attempts, MB": 600,
}
ROUNDS = 7
STAGE_SETTINGS = {
    **{key: config.DEFAULTS[key] for key in ("name", "spend", "faults", "capture", "slots")},
    **{"free": ["stand-in/none", "clock/none"], "access": {}},
}
# A verifier that says what it took itself, so that its share can be left out.
VERIFIER = """\
import resource

from fairtrial.verify import Failed, Verification

v = Verification()


@v.check("answer")
def answer() -> None:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    raise Failed(f"cpu={sum(u.ru_utime + u.ru_stime for u in used)}")


v.finish()
"""


def prepared(folder: Path) -> Lab:
    """One task, planned and not run, for the stand-in and for an agent that says when it started."""
    clock = {"adapter": "command", "free": True, "network": "none"}
    clock["options"] = {"template": ["date", "+%s%N"], "output": "none"}
    standin = {"adapter": "stand-in", "options": {"pass_probability": 1, "mean_seconds": 0.2}}
    settings = {"harnesses": ["stand-in", "clock"], "repetitions": ROUNDS}
    lab = Lab(folder, ["one"], settings, {"clock": clock, "stand-in": standin})
    (folder / "suites/tiny/one/verifier/verify.py").write_text(VERIFIER)
    done = lab.snakemake("plan")
    assert done.returncode == 0, done.stderr
    return lab


def attempts(lab: Lab, harness: str) -> list[tuple[str, str]]:
    """(attempt, grade) of each repetition of one harness."""
    cells = json.loads((lab.results / "default" / "matrix.json").read_bytes())["cells"]
    cell = next(cell for cell in cells if cell["harness"] == harness)
    stem = "/".join(cell[key] for key in ("suite", "task", "harness", "model", "recipe"))
    return [(f"{stem}/r{repetition}", cell["grade"]) for repetition in range(1, ROUNDS + 1)]


def fairtrial(lab: Lab, *arguments: str) -> Cost:
    """One stage command, as a rule starts it."""
    environment = {**lab.environment(), snake.STAGE: json.dumps(STAGE_SETTINGS)}
    with undisturbed():
        return cost([sys.executable, "-m", "fairtrial", *arguments], lab.folder, environment)


def agent_cpu(lab: Lab) -> float:
    """CPU seconds of the simulated agent alone, without box, trace and snapshots."""
    from fairtrial.harnesses.stand_in import agent, launch

    folder = lab.folder / "alone"
    shutil.copytree(lab.folder / "suites/tiny/one/workspace", folder)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    settings = {**launch.DEFAULTS, "pass_probability": 1, "mean_seconds": 0.01, "seed": 1, "model": None}
    solution = lab.folder / "suites/tiny/one/solution"
    argv = ["python3", "-I", str(agent.__file__), str(solution), "git", json.dumps(settings)]
    return min(cost(argv, folder, lab.environment()).cpu for _ in range(3))


def overhead(lab: Lab) -> float:
    """CPU ms of attempt + grade without the agent's and the verifier's own; the median of the repetitions."""
    alone, took = agent_cpu(lab), []
    for attempt, grade in attempts(lab, "stand-in"):
        used = fairtrial(lab, "attempt", attempt).cpu + fairtrial(lab, "grade", attempt, "--grade", grade).cpu
        result = json.loads((lab.results / "attempts" / attempt / "grades" / grade / "result.json").read_bytes())
        checks = {check["name"]: check for check in result["performance"]["correctness"]["checks"]}
        took.append(used - alone - float(checks["answer"]["detail"].partition("cpu=")[2]))
    return 1000 * statistics.median(took)


def wait(lab: Lab) -> float:
    """Wall ms from the start of the stage command to the agent's first look at the clock.

    The least of the repetitions: whatever else the machine does makes this longer, by any amount, and never shorter.
    """
    took = []
    for attempt, _ in attempts(lab, "clock"):
        began = time.time_ns()
        fairtrial(lab, "attempt", attempt)
        said = (lab.results / "attempts" / attempt / "agent-stdout.txt").read_bytes()
        took.append((int(said) - began) / 1e6)
    return min(took)


def nothing_to_do(folder: Path, size: int) -> Cost:
    """A dry run over `size` finished attempts; the analysis stages run once before it."""
    lab = planned(folder, size)
    first = lab.snakemake(timeout=1800)
    assert first.returncode == 0, first.stderr[-3000:]
    dry = cost(lab.command("-n"), lab.folder, lab.environment())
    assert "Nothing to be done" in dry.output, dry.output[-2000:]
    return dry


def whole(folder: Path, *arguments: str) -> float:
    """Wall seconds of what `make demo`, or with arguments `make smoke-vc`, runs once everything is installed."""
    (folder / "environment").mkdir(parents=True)
    environment = Lab(folder / "environment", []).environment()
    command = [sys.executable, "-m", "snakemake", "-s", str(CHECKOUT / "Snakefile"), "--directory", str(folder)]
    return cost([*command, "--cores", "2", "--quiet", "rules", "progress", *arguments], folder, environment).wall


def new_file(folder: Path, count: int = 400) -> float:
    """Microseconds to create an empty file: an ext4 where many were just deleted takes twenty times as long."""
    folder.mkdir()
    began = time.perf_counter()
    for number in range(count):
        (folder / str(number)).touch()
    return (time.perf_counter() - began) / count * 1e6


def measure() -> dict[str, float]:
    """The figures of LIMITS, and how the file system was that they were measured on."""
    with tempfile.TemporaryDirectory(prefix="fairtrial-bench-") as name:
        folder = Path(name)
        (folder / "lab").mkdir()
        created = new_file(folder / "new")
        lab = prepared(folder / "lab")
        own = overhead(lab), wait(lab)
        runs = (
            whole(folder / "demo"),
            whole(folder / "vc", "--until", "grade", "--configfile", str(CHECKOUT / "config" / "vc.yaml")),
        )
        small = nothing_to_do(folder / "100", 100)
        large = nothing_to_do(folder / "10000", 10_000)
    figures = dict(zip(LIMITS, (*own, *runs, small.cpu, large.cpu, large.megabytes), strict=True))
    return {"a new file here, us": created, **figures}
