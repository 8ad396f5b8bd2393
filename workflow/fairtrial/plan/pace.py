"""Keeps Snakemake's scheduler from looking at every ready job over and over.

Each look plans another one a second later, so that a limit of jobs per second can hold. Every job that ends starts one
more such chain, and none ends while jobs are ready: after 5,000 jobs there are 5,000 looks a second. With one planned
look at a time the limit holds as well.
"""

from __future__ import annotations

import threading
from typing import Any

PLANS_A_LOOK = "_schedule_reevalutation"  # spelled like this in Snakemake 9


def steady(scheduler: Any) -> bool:
    """Have a scheduler plan no look while another one is planned; False where this Snakemake plans them otherwise."""
    if not hasattr(scheduler, PLANS_A_LOOK) or not hasattr(scheduler, "_open_jobs"):
        return False
    planned = threading.Event()

    def look() -> None:
        planned.clear()
        scheduler._open_jobs.release()

    def plan(delay: float) -> None:
        if not planned.is_set():
            planned.set()
            timer = threading.Timer(delay, look)
            timer.daemon = True  # a planned look is nothing to wait for at the end
            timer.start()

    setattr(scheduler, PLANS_A_LOOK, plan)
    return True
