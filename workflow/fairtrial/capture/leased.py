"""One attempt that holds its lease and may start."""

from __future__ import annotations

from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import invocation, leases
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

    @property
    def token(self) -> str:
        """Names this attempt's folder below scratch/ and its records in the ledger."""
        return self.lease.token

    def stopped(self) -> str | None:
        """Why it must not start now, or None."""
        return invocation.stopped(self.results, self.settings, self.attempt.id)
