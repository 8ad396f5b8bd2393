"""Keeps Snakemake from deleting what attempts and grades have published when a job that names it fails.

Several attempts share a submission. When one of them ends in a fault or will not start the whole of it counts as
failed, and Snakemake deletes every output of a failed job "since they might be corrupted": seven results of eight. On
a node it deletes what another job has just published, when an attempt of a killed run ends because that job goes on
with it. Ours appear by rename, whole or not at all. --keep-incomplete would keep half-made tables too, as current ones.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from inspect import iscoroutinefunction
from typing import Any

PUBLISHED = frozenset({"attempt", "grade"})  # rules with one output each, written by temporary file and rename
DELETES = "cleanup"  # the method of Snakemake's jobs


def whole_outputs() -> bool:
    """Leave those rules' outputs alone in this process; False without Snakemake, or where it deletes in another way."""
    module = sys.modules.get("snakemake.jobs")  # whoever plans without Snakemake need not wait for its import
    job_class = getattr(module, "Job", None)
    clean: Any = getattr(job_class, DELETES, None)
    if not iscoroutinefunction(clean):
        return False

    async def cleanup(job: Any, skip_outputs: Sequence[Any]) -> None:
        if job.rule.name not in PUBLISHED:
            await clean(job, skip_outputs)

    setattr(job_class, DELETES, cleanup)
    return True
