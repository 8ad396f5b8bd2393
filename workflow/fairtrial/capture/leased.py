"""One attempt that holds its lease and may start."""

from __future__ import annotations

import math
import time
from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import deadline, invocation, leases
from fairtrial.contracts.lean import lean
from fairtrial.paths import Attempt, Results


@lean
class Run:
    """One attempt that may start: what it is, and who holds its lease."""

    results: Results
    attempt: Attempt
    settings: Settings
    recipe: dict[str, Any]
    recipe_sha256: str
    free: bool
    lease: leases.Lease
    record: dict[str, Any]  # of the lease
    latest: float = math.inf  # `time.monotonic()` after which its agent may not start

    @property
    def token(self) -> str:
        """Names this attempt's folder below scratch/ and its records in the ledger."""
        return self.lease.token

    def stopped(self) -> str | None:
        """Why it must not start now, or None."""
        late = deadline.LATE if time.monotonic() > self.latest else None
        return invocation.stopped(self.results, self.settings, self.attempt.id) or late
