"""The snapshot instrument around a workspace that a test changes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairtrial.contracts.protocols import Bind, Box, Budget, Stage
from fairtrial.instruments.snapshots.export import Recording
from fairtrial.instruments.snapshots.instrument import Snapshots


def stage_for(tmp_path: Path, ignore: tuple[str, ...] = (), binds: tuple[str, ...] = ()) -> Stage:
    """A prepared attempt whose folders lie below `tmp_path`."""
    for name in ("workspace", "home", "folder", "scratch"):
        (tmp_path / name).mkdir(exist_ok=True)
    box = Box(tmp_path / "workspace", tmp_path / "home", binds=[Bind(tmp_path, target) for target in binds])
    recipe = {"instruments": {"trace": [], "snapshot_ignore": list(ignore)}}
    return Stage("s/t/h/m/000000000000/r1", tmp_path / "folder", tmp_path / "scratch", box, Budget(60), recipe)


@contextmanager
def watching(stage: Stage, snapshots: Snapshots) -> Iterator[Path]:
    """The workspace while the instrument watches it."""
    snapshots.prepare(stage)
    snapshots.start(stage, os.getpid(), time.monotonic_ns())
    try:
        yield stage.box.workspace
    finally:
        snapshots.stop(stage)


def contents(recording: Recording, name: bytes) -> list[bytes | None]:
    """The successive contents of one file, as the looks saw it."""
    found: list[bytes | None] = []
    for look in recording.looks:
        entry = recording.tree(look["tree"]).get(name)
        value = recording.store.content(entry[1]) if entry else None
        if not found or found[-1] != value:
            found.append(value)
    return found
