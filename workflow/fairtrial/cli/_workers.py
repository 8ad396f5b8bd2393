"""Work spread over processes that leave nothing behind when the user has had enough."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

from fairtrial.instruments.sandbox import processes
from fairtrial.verify import files

Given = TypeVar("Given")
Made = TypeVar("Made")


def spread(work: Callable[[Given], Made], items: Sequence[Given], jobs: int) -> Iterator[Made]:
    """What `work` makes of each item, in order, `jobs` at once.

    On Ctrl-C, or when the reader stops, the workers and everything below them are killed and their temporary files are
    deleted: a worker may be minutes from the end of a task.
    """
    with tempfile.TemporaryDirectory(prefix="ft-", ignore_cleanup_errors=True) as name:
        pool = ProcessPoolExecutor(max_workers=jobs, initializer=_begin, initargs=(name,))
        try:
            waiting = [pool.submit(work, item) for item in items]
            for future in waiting:
                yield future.result()
            pool.shutdown()
        except BaseException:
            with _undisturbed():
                _kill(pool)
                for path in Path(name).iterdir():
                    with contextlib.suppress(OSError):
                        files.remove(path)
            raise


def _begin(scratch: str) -> None:
    """In a worker: Ctrl-C is the parent's to answer. A handler, unlike SIG_IGN, does not pass on to programs."""
    tempfile.tempdir = scratch
    signal.signal(signal.SIGINT, _let_pass)


def _let_pass(number: int, frame: object) -> None:
    pass


def _kill(pool: ProcessPoolExecutor) -> None:
    """Workers are stopped first, so that they start nothing more while what they started is killed."""
    workers = [process.pid for process in multiprocessing.active_children() if process.pid is not None]
    for pid in workers:
        processes.send(pid, signal.SIGSTOP)
    for pid in workers:
        processes.kill_below(pid, set())
    for pid in workers:
        processes.send(pid, signal.SIGKILL)
    pool.shutdown()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """A second Ctrl-C does not leave the clearing up half done."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
