"""A control group of one attempt, where this user may make one: counts its processes, ends them in one stroke."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from fairtrial.instruments.sandbox import processes

_UNIFIED = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
_SETTLE = 5  # rounds in which processes that were started meanwhile are moved as well


def _own_folders() -> Iterable[Path]:
    """Folders of this process's own groups: version 2, and version 1's `pids`."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0":
            tops = [top for top in _UNIFIED if Path(top, "cgroup.controllers").exists()]
        else:
            tops = ["/sys/fs/cgroup/pids"] if controllers == "pids" else []
        yield from (Path(top + path) for top in tops)


def _sweep(parent: Path) -> None:
    """Remove what killed runners left: empty groups whose maker is gone."""
    for folder in parent.glob("box-*-*"):
        with contextlib.suppress(OSError, ValueError):
            if not processes.alive(int(folder.name.split("-")[1])):
                os.rmdir(folder)  # noqa: PTH106 - refused by the kernel while a process is in it


class Group:
    """One or two folders below the own groups; empty where none could be made."""

    def __init__(self) -> None:
        name = f"box-{os.getpid()}-{os.urandom(4).hex()}"
        self.folders: list[Path] = []
        for parent in _own_folders():
            _sweep(parent)
            with contextlib.suppress(OSError):
                (parent / name).mkdir()
                self.folders.append(parent / name)

    def limit(self, count: int) -> bool:
        """At most `count` processes; False where that cannot be had."""
        done = False
        for folder in self.folders:
            if (folder / "pids.max").exists():
                with contextlib.suppress(OSError):
                    (folder / "pids.max").write_text(str(count))
                    done = True
        return done

    def take(self, pid: int) -> bool:
        """Move one process in; what it starts from then on is in as well."""
        done = bool(self.folders)
        for folder in self.folders:
            try:
                (folder / "cgroup.procs").write_text(str(pid))
            except OSError:
                done = False
        return done

    def take_tree(self, top: int) -> None:
        """Move `top` and all below it in, again until nothing new turns up."""
        moved: set[int] = set()
        for _ in range(_SETTLE):
            fresh = ({top} | processes.descendants(top)) - moved
            if not fresh:
                return
            for pid in fresh:
                self.take(pid)
            moved |= fresh

    def kill(self) -> bool:
        """End all members; False where the kernel has no cgroup.kill."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                if (folder / "cgroup.kill").exists():
                    (folder / "cgroup.kill").write_text("1")
                    return True
        return False

    def remove(self) -> None:
        """Give the folders back; they are busy for a moment after the last member's end."""
        for folder in self.folders:
            for _ in range(50):
                try:
                    os.rmdir(folder)  # noqa: PTH106 - the same call, and it says busy
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)
                else:
                    break
        self.folders.clear()


class Fence:
    """A process limit for a box of root's, who is exempt from RLIMIT_NPROC.

    Moving a process takes 0.1 to 11 ms, so a thread does it beside the start.
    """

    def __init__(self, top: int, count: int) -> None:
        self._group = Group()
        self.works = self._group.limit(count)
        self._thread = threading.Thread(target=self._group.take_tree, args=(top,), name="fence", daemon=True)

    def raise_up(self) -> None:
        """Begin to move the box's processes in."""
        if self.works:
            self._thread.start()

    def remove(self) -> None:
        """After the end of the box."""
        if self._thread.ident is not None:
            self._thread.join()
        self._group.remove()
