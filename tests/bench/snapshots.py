"""What snapshots cost: a look, the diff, a replayed tree, and the agent that is being watched.

The slowdown is the median ratio over 20 pairs, watched and not watched in turn, of a process that makes 200 edits in
a workspace of 500 files, computes 5 ms after each, and runs 40 commands whose end is acknowledged only after the look:
the worst way a recorder could ask for it, and no pause for a model to think.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from fairtrial.contracts.protocols import Box, Budget, Stage
from fairtrial.grading.first_green import replay
from fairtrial.grading.scratch import place as scratch_place
from fairtrial.instruments.snapshots.diff import make_patch
from fairtrial.instruments.snapshots.export import Recording
from fairtrial.instruments.snapshots.instrument import Snapshots
from fairtrial.instruments.snapshots.manifest import IGNORE
from fairtrial.instruments.snapshots.store import Store
from fairtrial.instruments.snapshots.watch import watcher_for

LIMITS: dict[str, float] = {
    "snapshot_walk_ms_20": 1.0,
    "snapshot_walk_ms_500": 5.0,
    "snapshot_walk_ms_5000": 50.0,
    "snapshot_look_ms_500": 2.0,
    "diff_ms_20": 15.0,
    "replay_ms_per_tree_20": 8.0,
    "snapshot_slowdown_ratio": 1.05,
}
PAIRS = 20

AGENT = """
import os, socket, subprocess, sys, time
bell = socket.socket(fileno=int(sys.argv[1]))
began = time.perf_counter()
for i in range(200):
    with open(f"d{i % 25}/f{i}.py", "w") as stream:
        stream.write(f"edited = {i}\\n")
    until = time.process_time() + 0.005
    while time.process_time() < until:
        pass
    if i % 5 == 4:
        subprocess.run(["git", "--version"], stdout=subprocess.DEVNULL)
        bell.send(b"e")
        bell.recv(1)
print(time.perf_counter() - began)
"""


def workspace(root: Path, files: int) -> None:
    """`files` small files, 20 in a folder."""
    for number in range(files):
        path = root / f"d{number // 20}" / f"f{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"number = {number}\n" * 50)
    time.sleep(0.05)


def median_ms(action: Callable[[], object], before: Callable[[int], object], count: int) -> float:
    """Median wall time of `action` over `count`, each after a `before`, in ms."""
    took = []
    for turn in range(count):
        before(turn)
        began = time.perf_counter()
        action()
        took.append(time.perf_counter() - began)
    return statistics.median(took) * 1000


def looks_and_diff(folder: Path, files: int) -> dict[str, float]:
    """One file changed: a walk of everything, a look where the watcher says, the diff."""
    root = folder / f"w{files}"
    workspace(root, files)
    store, watcher = Store(folder / f"s{files}"), watcher_for(root, IGNORE)
    start = store.capture(root, watcher=watcher)

    def edit(turn: int) -> None:
        (root / "d0" / "f1.py").write_text(f"turn = {turn}\n")
        time.sleep(0.03)

    walk = median_ms(lambda: store.capture(root, watcher=watcher), edit, 9)
    watcher.take()
    look = median_ms(lambda: store.capture(root, watcher=watcher, only=watcher.take()), edit, 9)
    watcher.close()
    end = store.capture(root)
    diff = median_ms(lambda: make_patch(store, start, end, folder), lambda _: None, 5)
    return {f"snapshot_walk_ms_{files}": walk, f"snapshot_look_ms_{files}": look, f"diff_ms_{files}": diff}


def stage_in(folder: Path, files: int) -> Stage:
    """A stage with a workspace in `folder`."""
    for name in ("home", "evidence", "scratch"):
        (folder / name).mkdir(parents=True)
    workspace(folder / "w", files)
    return Stage("bench", folder / "evidence", folder / "scratch", Box(folder / "w", folder / "home"), Budget(60), {})


def replayed(folder: Path) -> dict[str, float]:
    """Restore, an empty judgement and removal, per distinct tree, where a grade would lay the trees out.

    That is memory, if there is any: for five minutes an ext4 walks past every inode that was deleted, at each creation
    of a file, and what the groups before this one deleted is not what is measured here.
    """
    stage = stage_in(folder, 20)
    snapshots = Snapshots()
    snapshots.prepare(stage)
    snapshots.start(stage, os.getpid(), time.monotonic_ns())
    for turn in range(20):
        (stage.box.workspace / "d0" / "f0.py").write_text(f"turn = {turn}\n")
        snapshots.capture_now()
    snapshots.stop(stage)
    recording = Recording(stage.folder)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=scratch_place(recording)) as scratch:
        trees = len(replay(recording, lambda _: "red", scratch=Path(scratch)).verdicts)
        once = median_ms(lambda: replay(recording, lambda _: "red", scratch=Path(scratch)), lambda _: None, 5)
    return {"replay_ms_per_tree_20": once / trees}


def agent_seconds(folder: Path, watched: bool) -> float:
    """One play of the agent; its own wall time."""
    stage = stage_in(folder, 500)
    snapshots = Snapshots()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        if watched:
            snapshots.prepare(stage)
        agent = subprocess.Popen(
            [sys.executable, "-S", "-c", AGENT, str(theirs.fileno())],
            cwd=stage.box.workspace, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE,
        )  # fmt: skip
        theirs.close()
        if watched:
            snapshots.start(stage, agent.pid, time.monotonic_ns())
        while ours.recv(1):
            if watched:
                snapshots.capture_now()
            ours.send(b"a")
        seconds = float(agent.communicate()[0])
        if watched:
            snapshots.stop(stage)
    shutil.rmtree(folder)
    return seconds


def slowdown(folder: Path) -> dict[str, float]:
    """Watched over not watched, median of pairs; who goes first alternates."""
    ratios = []
    for pair in range(PAIRS):
        seconds = {}
        for watched in (True, False) if pair % 2 else (False, True):
            seconds[watched] = agent_seconds(folder / f"{pair}-{watched}", watched)
        ratios.append(seconds[True] / seconds[False])
    return {"snapshot_slowdown_ratio": statistics.median(ratios)}


def measure() -> dict[str, float]:
    """All figures, by name."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        for files in (20, 500, 5000):
            figures |= looks_and_diff(folder, files)
        figures |= replayed(folder / "replay")
        figures |= slowdown(folder / "slow")
    return figures
