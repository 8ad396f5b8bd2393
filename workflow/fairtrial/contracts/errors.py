"""The two ways anything ends early: a mistake of the user's, and a fault of the infrastructure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairtrial.contracts.protocols import FaultKind


class UserError(Exception):
    """Bad input: printed as one message, exit code 2, no traceback."""


class Fault(Exception):
    """The infrastructure failed, so there is no result; `message` is shown as it is."""

    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind: FaultKind = kind
        self.message = message
