"""How long the cluster lets a job go on: an agent that it would cut short, and so have paid twice, is not started.

A job's time covers its agents, not what they wait for: a slot, room below the cap, another process's attempt, a
provider that asks for an hour's pause.
"""

from __future__ import annotations

import math
import os
import time

ROOM = 60.0  # seconds for what stands around an agent: laying out, ending, sealing
LATE = "its cluster job would end within its wall budget: it had waited too long"


def latest_start(wall_seconds: float) -> float:
    """`time.monotonic()` after which an agent may not start; infinite outside of SLURM.

    So too in a job that was given less time than one wall budget from the start: somebody chose that.
    """
    job = os.environ.get("SLURM_JOB_ID")
    needed = wall_seconds + ROOM
    left, limit = (None, None) if not job else _asked(job)
    if left is None or limit is None or limit < needed:
        return math.inf
    return time.monotonic() + left - needed


def _asked(job: str) -> tuple[float | None, float | None]:
    """(seconds left, seconds given) of a job, None where SLURM does not say."""
    import shutil
    import subprocess

    if shutil.which("squeue") is None:
        return None, None
    command = ["squeue", "--noheader", "--format=%L %l", "--jobs", job]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None, None
    words = asked.stdout.split()
    return (seconds(words[0]), seconds(words[1])) if asked.returncode == 0 and len(words) == 2 else (None, None)


def seconds(text: str) -> float | None:
    """Of SLURM's `days-hours:minutes:seconds`, its larger parts left out; None for words such as UNLIMITED."""
    days, _, clock = text.rpartition("-")
    parts = clock.split(":")
    if not all(part.isdigit() for part in (days or "0", *parts)) or len(parts) > 3:
        return None
    total = 0
    for part in parts:
        total = total * 60 + int(part)
    return float(total + 86_400 * int(days or "0"))
