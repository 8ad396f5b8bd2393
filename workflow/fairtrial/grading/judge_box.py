"""Where grading runs programs: product code in a box without network, the verifier outside it without network too."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fairtrial.contracts.protocols import HOME, WORKSPACE, Bind

ACCEPTANCE = f"{WORKSPACE}/acceptance"
HOLDER = "{workspace}"  # replaced by the host folder that is to stand at WORKSPACE


def prefix(policy: str, binds: Sequence[Bind] = ()) -> list[str]:
    """argv that boxes what follows it, with the placeholder for its workspace; empty where there is no box."""
    program = shutil.which("bwrap") if policy != "none" else None
    if program is None:
        return []
    argv = [program, "--die-with-parent", "--new-session", "--unshare-user", "--uid", "1000", "--gid", "1000"]
    argv += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--clearenv"]
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": HOME, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    for key, value in env.items():
        argv += ["--setenv", key, value]
    argv += ["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"]
    argv += ["--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108
    argv += ["--tmpfs", HOME, "--bind", HOLDER, WORKSPACE]
    for bind in binds:
        argv += ["--bind" if bind.writable else "--ro-bind", str(bind.source), bind.target]
    return [*argv, "--chdir", WORKSPACE, "--"]


@functools.lru_cache(maxsize=1)
def no_network() -> tuple[str, ...]:
    """argv that takes the network from what follows it, proven by running it once; empty where that cannot be had."""
    unshare = shutil.which("unshare")
    if not sys.platform.startswith("linux") or unshare is None:
        return ()
    for argv in ([unshare, "-n"], [unshare, "-U", "--map-current-user", "-n"]):
        done = subprocess.run([*argv, "true"], capture_output=True, check=False, env={"PATH": os.defpath}, timeout=10)
        if done.returncode == 0:
            return tuple(argv)
    return ()


def verifier_environment(home: Path, settings: Path, nonce: str) -> dict[str, str]:
    """All that a verifier's process inherits: an allow-list, no secrets, no variables of whoever started grading."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "FAIRTRIAL_VERIFY": str(settings),
        "FAIRTRIAL_NONCE": nonce,
    }
