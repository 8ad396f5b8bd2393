"""How running, planning and analysis grow with the number of attempts, on real task packages with the real Snakemake.

Results are executed (the stand-in, which does not sleep, on the smallest task) at 100 attempts, with FULL=1 at 1,000
too, and fabricated above.

make bench FIGURES=scale [FULL=1]
python -m tests.bench.scale --write [SIZE ...]     measures and puts the columns into docs/scale.md
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path

from tests.lab import CHECKOUT, Lab
from tests.planned import Cost, cost, laboratory, planned, task_names

SIZES = (100, 1_000, 10_000)
PLANNED = 50_000  # only planned, with nothing run
EXECUTED = 1_000 if os.environ.get("FULL") == "1" else 100  # attempts that are really run at most
RUN = "whole run"
STEPS = ("dry run", "no-op", "1 % missing", "one more repetition", "dataset", "scorecard", "report")
STAND_IN = {"adapter": "stand-in", "options": {"mean_seconds": 0, "pass_probability": 0.8}}
SLOW = True  # minutes at 10,000 and 50,000
LIMITS: dict[str, float] = {f"{step}: CPU at 10,000 over ten times that at 1,000": 1.0 for step in STEPS}
PAGE = CHECKOUT / "docs" / "scale.md"
MARKS = ("<!-- table of tests/bench/scale.py -->", "<!-- end of table -->")


def dry(lab: Lab, *arguments: str) -> Cost:
    """One dry run."""
    return cost(lab.command("-n", *arguments), lab.folder, lab.environment())


def stage(lab: Lab, verb: str) -> Cost:
    """One stage command, its cache deleted before."""
    return cost([sys.executable, "-m", "fairtrial", verb], lab.folder, lab.environment())


def all_missing(lab: Lab, folder: Path) -> Cost:
    """A dry run of the same experiment where nothing was run yet."""
    folder.mkdir()
    fresh = Lab(folder, [], {**lab.config, "tasks_dirs": [str(lab.folder / "suites")]}, lab.harnesses, lab.models)
    return dry(fresh)


def some_missing(lab: Lab) -> Cost:
    """A dry run with every hundredth attempt gone; they are put back."""
    folders = sorted(lab.results.glob("attempts/*/*/*/*/*/r*"))[::100]
    moved = [(folder, folder.with_name(f".{folder.name}.away")) for folder in folders]
    for folder, away in moved:
        folder.rename(away)
    try:
        done = dry(lab)
    finally:
        for folder, away in moved:
            away.rename(folder)
    jobs = [line.split() for line in done.output.splitlines() if line.startswith("attempt ")]
    assert jobs[0][1] == str(len(folders)), done.output[-2000:]
    return done


def only_planned(size: int, folder: Path) -> dict[str, Cost]:
    """A dry run where nothing was run; no results are fabricated."""
    folder.mkdir(parents=True)
    return {"dry run": dry(laboratory(folder, task_names(size)))}


def executed(folder: Path, size: int) -> tuple[Lab, Cost]:
    """Every attempt and grade really run on two cores, from the plan to the report."""
    folder.mkdir(parents=True)
    lab = laboratory(folder, task_names(size), STAND_IN)
    took = cost(lab.command("--quiet"), lab.folder, lab.environment())
    assert len(lab.seals()) >= size
    return lab, took


def figures(size: int, folder: Path, most: int = EXECUTED) -> dict[str, Cost]:
    """Step -> what it took with `size` attempts; executed up to `most`, only planned above the largest of SIZES."""
    if size > max(SIZES):
        return only_planned(size, folder / "lab")
    took = {}
    if size <= most:
        lab, took[RUN] = executed(folder / "lab", size)
    else:
        lab = planned(folder / "lab", size)
    took["dry run"] = all_missing(lab, folder / "fresh")
    took |= {verb: stage(lab, verb) for verb in STEPS[-3:]}
    done = lab.snakemake("--quiet", timeout=3600)  # notes for Snakemake that tables and report are there
    assert done.returncode == 0, done.stderr[-2000:]
    took["no-op"] = dry(lab)
    took["1 % missing"] = some_missing(lab)
    took["one more repetition"] = dry(lab, "--config", f"repetitions={lab.config['repetitions'] + 1}")
    return took


def measure() -> dict[str, float]:
    """CPU s and MB of each step at each size, and how much worse than linear each grows."""
    taken = run((*SIZES, PLANNED))
    runs = {f"{RUN} of {size:,}, CPU s": taken[size][RUN].cpu for size in SIZES if size <= EXECUTED}
    flat = {f"{step} at {size:,}, CPU s": taken[size][step].cpu for size in SIZES for step in STEPS}
    flat |= {f"{step} at {size:,}, MB": taken[size][step].megabytes for size in SIZES for step in STEPS}
    growth = {
        name: taken[10_000][step].cpu / (10 * taken[1_000][step].cpu) for name, step in zip(LIMITS, STEPS, strict=True)
    }
    plan = taken[PLANNED]["dry run"]
    return (
        runs
        | flat
        | {f"dry run at {PLANNED:,}, CPU s": plan.cpu, f"dry run at {PLANNED:,}, MB": plan.megabytes}
        | growth
    )


def run(sizes: tuple[int, ...], most: int = EXECUTED) -> dict[int, dict[str, Cost]]:
    """Size -> step -> what it took; one size after the other, each in a folder that is deleted."""
    taken = {}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="fairtrial-scale-") as name:
            taken[size] = figures(size, Path(name), most)
    return taken


def cell(took: Cost | None) -> str:
    """One figure of the table."""
    return "not measured" if took is None else f"{took.cpu:.1f} s, {took.megabytes:.0f} MB"


def column(took: dict[str, Cost]) -> dict[str, str]:
    """Step -> figure of one size."""
    return {step: cell(took.get(step)) for step in (RUN, *STEPS)}


def known(text: str) -> dict[str, dict[str, str]]:
    """Heading -> step -> figure of the table that stands in the page; {} where there is none."""
    lines = [[part.strip() for part in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {
        name: {row[0]: row[place] for row in lines[2:]} for place, name in enumerate(lines[0] if lines else []) if name
    }


def table(columns: dict[str, dict[str, str]]) -> str:
    """Markdown: a row per step, a column per size."""
    order = sorted(columns, key=lambda name: int(name.split()[0].replace(",", "")))
    rows = [[step, *(columns[name].get(step, "not measured") for name in order)] for step in (RUN, *STEPS)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (["", *order], ["---"] * (len(order) + 1), *rows))


def circumstances(taken: dict[int, dict[str, Cost]]) -> str:
    """What was executed, and on which machine."""
    runs = [f"{size:,} attempts were executed, in {took[RUN].wall:.0f} s of wall time. "
            for size, took in taken.items() if RUN in took]  # fmt: skip
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    where = f"{os.cpu_count()} CPUs, load {load:.1f} per CPU, Python {platform.python_version()}"
    sizes = " and ".join(f"{size:,}" for size in taken)
    return f"{''.join(runs)}{sizes} attempts: measured on {where}."


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("sizes", nargs="*", type=int)
    parser.add_argument("--write", action="store_true", help="put the table into docs/scale.md")
    options = parser.parse_args()
    taken = run(tuple(options.sizes) or (*SIZES, PLANNED))
    columns = {f"{size:,} attempts": column(took) for size, took in taken.items()}
    print(table(columns), circumstances(taken), sep="\n\n")
    if options.write:
        before, _, rest = PAGE.read_text().partition(MARKS[0])
        old, _, after = rest.partition(MARKS[1])
        text = f"{table(known(old) | columns)}\n\n{circumstances(taken)}"
        PAGE.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
