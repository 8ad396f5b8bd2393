"""Leases: who is running an attempt, so that it is never paid twice and never run beside itself.

A lease is a file created exclusively. It is taken over when its holder is shown dead: on the same host by process id
and start time, elsewhere by the cluster's word or by four missed heartbeats. The holder checks its token before it
seals.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fairtrial.contracts.clock import utc_now
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import create, load

HEARTBEAT_SECONDS = 15.0
MISSED = 4
NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK})


def identity(name: str, invocation: str) -> dict[str, Any]:
    """The lease record of this process (schemas/lease.schema.json)."""
    return {
        "schema_version": 1,
        "attempt_id": name,
        "token": os.urandom(6).hex(),
        "host": os.uname().nodename,
        "pid": os.getpid(),
        "pid_started": process_start(os.getpid()),
        "boot_id": boot_id(),
        "cluster_job": os.environ.get("SLURM_JOB_ID"),
        "invocation": invocation,
        "started_at": utc_now(),
        "heartbeat_seconds": HEARTBEAT_SECONDS,
    }


def process_start(pid: int) -> str | None:
    """Start time of a process in clock ticks since boot, which tells a reused pid apart; None when it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    return None if fields[0] in (b"Z", b"X") else fields[19].decode()


def boot_id() -> str | None:
    """Changes with every boot; None where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None


def is_alive(record: dict[str, Any], path: Path) -> bool:
    """Is the holder of this lease still at work, as far as can be told from here?"""
    if record.get("host") == os.uname().nodename:
        if record.get("boot_id") != boot_id():
            return False
        if record.get("pid_started") is None:  # no /proc on this system
            return _pid_exists(int(record["pid"]))
        return process_start(int(record["pid"])) == str(record["pid_started"])
    age = silence(path)
    beat = float(record.get("heartbeat_seconds", HEARTBEAT_SECONDS))
    if age is None or age >= MISSED * beat:
        return False
    job = record.get("cluster_job")
    return not (job and age > 1.5 * beat and cluster_says_gone(str(job)))


def silence(path: Path) -> float | None:
    """Seconds since the last heartbeat by the disk's own clock, which all nodes share; None when there is no lease."""
    probe = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.now")
    try:
        beat = path.stat().st_mtime
        probe.touch()
        now = probe.stat().st_mtime
        probe.unlink()
    except FileNotFoundError:
        return None
    except OSError:  # a full or read-only disk: this node's clock has to do
        now = time.time()
    return now - beat


def cluster_says_gone(job: str) -> bool:
    """Does SLURM no longer know this job as pending or running? False where it cannot be asked."""
    import shutil
    import subprocess

    if shutil.which("squeue") is None:
        return False
    try:
        command = ["squeue", "--noheader", "--format=%T", "--jobs", job]
        asked = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    if asked.returncode != 0:
        return "Invalid job id" in asked.stderr
    ended = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "OUT_OF_MEMORY", "DEADLINE")
    return all(state.strip().startswith(ended) for state in asked.stdout.splitlines())


def _pid_exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def holder(path: Path) -> dict[str, Any] | None:
    """The record of a lease that is held by a living process; None otherwise."""
    record = held(path)
    return record if record and is_alive(record, path) else None


def read(path: Path) -> dict[str, Any] | None:
    """A record of this folder's kind, of a lease its holder dead or alive; None when there is none."""
    try:
        return load(path)
    except UserError:
        return None


def held(path: Path) -> dict[str, Any] | None:
    """The record of a lease; None when there is none, or one that names no holder.

    The token names a folder that is deleted with what a dead holder left, so it is looked at.
    """
    record = read(path) or {}
    texts = (record.get("attempt_id"), record.get("token"), record.get("host"))
    numbers = (record.get("pid"), record.get("heartbeat_seconds"))
    known = all(isinstance(text, str) for text in texts) and all(isinstance(n, int | float) for n in numbers)
    return record if known and str(record["token"]).isalnum() else None


def take(path: Path, record: dict[str, Any], on_takeover: Callable[[dict[str, Any]], None]) -> dict[str, Any] | None:
    """Try once: None when the lease is ours now, else the living holder's record.

    `on_takeover` gets a dead holder's record before its lease is replaced (to clear what it left behind).
    """
    with locked(path):
        current = held(path)
        if current and is_alive(current, path):
            return current
        if path.exists():
            on_takeover(current or {})
            _set_aside(path, current)
        if create(path, record):
            return None
        return read(path) or {}


def _set_aside(path: Path, dead: dict[str, Any] | None) -> None:
    """Remove a dead lease; one that another node put in its place meanwhile is put back."""
    aside = path.with_name(f".{path.name}.{os.urandom(4).hex()}.dead")
    try:
        path.rename(aside)
    except FileNotFoundError:
        return
    if (held(aside) or {}).get("token") != (dead or {}).get("token"):
        with suppress(FileExistsError):
            path.hardlink_to(aside)
    aside.unlink()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Two takers of one dead lease on one host go one after the other."""
    lock = path.with_name(path.name + ".lock")
    descriptor = -1
    while descriptor < 0:
        lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_CREAT | os.O_RDWR, 0o644)
        lock_where_possible(descriptor)
        if not _is_the_file(descriptor, lock):  # deleted by a holder that left while we waited
            os.close(descriptor)
            descriptor = -1
    try:
        yield
    finally:
        os.close(descriptor)


def lock_where_possible(descriptor: int) -> None:
    """Lock a file until it is closed; some shared disks (Lustre without `flock`) refuse that, and nothing relies on it.

    A lease is created exclusively and looked at again, a reservation summed again after it is written.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise


def _is_the_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


class Lease:
    """A held lease with its heartbeat; a context manager that releases it."""

    def __init__(self, path: Path, record: dict[str, Any]) -> None:
        self.path = path
        self.token: str = record["token"]
        self._done = threading.Event()
        self._beat = threading.Thread(target=self._heartbeat, daemon=True)

    def __enter__(self) -> Lease:
        self._beat.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self.still_ours():
            self.path.unlink(missing_ok=True)
            self.path.with_name(self.path.name + ".lock").unlink(missing_ok=True)

    def still_ours(self) -> bool:
        """False when another process took over; then nothing may be sealed."""
        record = read(self.path)
        return record is not None and record.get("token") == self.token

    def _heartbeat(self) -> None:
        while not self._done.wait(HEARTBEAT_SECONDS):
            try:
                os.utime(self.path)
            except FileNotFoundError:
                return
            except OSError:
                continue  # a shared disk that stumbles; the next beat may reach it


def wait_for(
    path: Path,
    record: dict[str, Any],
    finished: Callable[[], bool],
    on_takeover: Callable[[dict[str, Any]], None],
    waiting: Callable[[], None] = lambda: None,
) -> Lease | None:
    """The lease once it is ours; None when another process finished the work meanwhile.

    `waiting` is called before each pause and may raise to give up.
    """
    pause = 0.1
    while True:
        other = take(path, record, on_takeover)
        if other is None:
            if finished():  # sealed between the look and the lease
                with Lease(path, record):
                    return None
            return Lease(path, record)
        if finished():
            return None
        waiting()
        time.sleep(pause)
        pause = min(2.0, pause * 1.5)
