"""Runs every figure; with --check exits 1 when one is above 1.5 times its limit."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import platform
import sys
from pathlib import Path
from types import ModuleType

from tests import bench

SLACK = 1.5
TRIES = 3


def measured(module: ModuleType, check: bool) -> dict[str, float]:
    """The figures; with `check` those above their limit are measured again, at most twice, and the best counts.

    A busy moment of the machine makes a figure worse and never better.
    """
    best: dict[str, float] = module.measure()
    for _ in range(TRIES - 1):
        over = [name for name, value in best.items() if value > SLACK * module.LIMITS.get(name, float("inf"))]
        if not check or not over:
            break
        again = module.measure()
        best.update({name: min(best[name], again.get(name, best[name])) for name in over})
    return best


def main() -> int:
    """0, or 1 when --check finds a figure above its limit."""
    known = sorted(m.name for m in pkgutil.iter_modules(bench.__path__) if not m.name.startswith("_"))
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("figures", nargs="*", help=f"of: {', '.join(known)}; default all")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    rows, over = [], []
    for name in args.figures or known:
        module = importlib.import_module(f"tests.bench.{name}")
        if args.check and not args.figures and getattr(module, "SLOW", False):
            print(f"{name:<12} left out of --check; run it by name: make bench FIGURES={name}")
            continue
        for figure, value in measured(module, args.check).items():
            limit = module.LIMITS.get(figure)
            rows.append({"file": name, "figure": figure, "value": value, "limit": limit})
            bad = limit is not None and value > SLACK * limit
            over += [figure] if bad else []
            goal = getattr(module, "GOALS", {}).get(figure)
            said = f"limit {limit:g}" if limit is not None else f"goal {goal:g}" if goal is not None else ""
            print(f"{name:<12} {figure:<52} {value:>12.3f} {said:<14}{'OVER' if bad else ''}", flush=True)
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "system": platform.system()}
    Path("bench.json").write_text(json.dumps({"machine": machine, "slack": SLACK, "figures": rows}, indent=1) + "\n")
    if args.check and over:
        print(f"above {SLACK} times their limit: {', '.join(over)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
