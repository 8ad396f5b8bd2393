"""Runs command lines with and without the shims, outside any box; used by the trace tests and its bench figure."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from fairtrial.contracts.protocols import Box, Budget, Stage
from fairtrial.instruments.trace.instrument import Trace

SYSTEM = "/usr/local/bin:/usr/bin:/bin"
CACHE = Path(tempfile.gettempdir()) / f"fairtrial-shims-{os.getuid()}"


def stage(folder: Path, commands: list[str], path: list[str] | None = None) -> Stage:
    """An attempt's stage below `folder` that traces `commands`."""
    for name in ("evidence", "scratch", "workspace", "home"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    box = Box(workspace=folder / "workspace", home=folder / "home", path=list(path or []))
    recipe = {"instruments": {"trace": commands, "snapshot_ignore": []}}
    return Stage("s/t/h/m/r/r1", folder / "evidence", folder / "scratch", box, Budget(60), recipe)


class Rig:
    """A recorder and its shims, reached by PATH only."""

    def __init__(self, folder: Path, commands: list[str], kind: str, path: list[str] | None = None, **options) -> None:
        self.stage = stage(folder, commands, path)
        self.trace = Trace(boxed=False, cache=CACHE, kind=kind, **options)
        self.extra = list(path or [])
        self.trace.prepare(self.stage)
        self.trace.start(self.stage, 1, time.monotonic_ns())
        self.shims = self.stage.box.path[0]

    def environment(self, shimmed: bool = True) -> dict[str, str]:
        """The environment with or without the shims."""
        folders = [self.shims] * shimmed + self.extra + [SYSTEM]
        return {"PATH": ":".join(folders), "HOME": str(self.stage.box.home), "LANG": "C.UTF-8", "SHLVL": "1"}

    def run(self, line: str | list[str], shimmed: bool = True, **options) -> subprocess.CompletedProcess:
        """A bash line, or an argument list, in the workspace."""
        argv = ["/bin/bash", "-c", line] if isinstance(line, str) else line
        options.setdefault("env", self.environment(shimmed))
        options.setdefault("cwd", self.stage.box.workspace)
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(argv, check=False, capture_output=True, timeout=60, **options)

    def stop(self) -> list[dict]:
        """The recorded lines."""
        self.trace.stop(self.stage)
        return [json.loads(line) for line in (self.stage.folder / "trace.jsonl").read_text().splitlines()]
