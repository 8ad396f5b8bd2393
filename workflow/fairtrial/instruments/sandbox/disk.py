"""Room on the disk: checked before a start, watched while an attempt runs."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from fairtrial.contracts.errors import Fault

_PERIOD = 1.0  # seconds between looks; longer where one look takes long
_SHARE = 20  # a look may take a twentieth of the time


def check_free(path: Path, needed: int) -> None:
    """Fault('disk') when fewer than `needed` bytes are free where `path` is (or will be)."""
    existing = path
    while not existing.exists():
        existing = existing.parent
    room = os.statvfs(existing)
    free = room.f_bavail * room.f_frsize
    if free < needed:
        raise Fault("disk", f"{free >> 20} MiB free for {path}, {needed >> 20} MiB needed: make room, then run again")


def tree_bytes(top: Path) -> int:
    """Bytes allocated on disk below `top`; links are not followed, what vanishes meanwhile is not counted."""
    total, waiting = 0, [str(top)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    try:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                    except OSError:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return total


class SizeWatch:
    """Looks at the size of some folders now and then, in a thread, until it is left. `cap` None: never."""

    def __init__(self, folders: Sequence[Path], cap: int | None) -> None:
        self._folders = folders
        self._cap = cap
        self._reason: str | None = None
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def reason(self) -> str | None:
        """Why the attempt has to end, once it is over its cap."""
        return self._reason

    def __enter__(self) -> SizeWatch:
        if self._cap is not None:
            self._thread = threading.Thread(target=self._look, name="size", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        pause = _PERIOD
        while self._cap is not None and not self._over.wait(pause):
            begun = time.monotonic()
            size = sum(map(tree_bytes, self._folders))
            if size > self._cap:
                self._reason = f"disk: the attempt's files take {size >> 20} MiB, its cap is {self._cap >> 20} MiB"
                return
            pause = max(_PERIOD, _SHARE * (time.monotonic() - begun))
