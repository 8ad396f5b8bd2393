"""A folder with a short path for an attempt without a box: a socket's path has 108 bytes, a script's first line 255.

Its place is the system's folder for temporary files, where nothing of fairtrial's is looked for. A lock held by the
process that made it tells a folder in use from one that a killed attempt has left; the next attempt removes those.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

PREFIX = "ft-trace-"
FRESH_SECONDS = 60.0  # between making a folder and locking it


class ShortFolder:
    """One such folder, held until `close`."""

    def __init__(self) -> None:
        sweep()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def sweep() -> None:
    """Remove the folders of ours that nobody holds any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            found = os.fstat(lock)
            if found.st_uid == os.geteuid() and time.time() - found.st_mtime > FRESH_SECONDS:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # somebody holds it
        finally:
            os.close(lock)
