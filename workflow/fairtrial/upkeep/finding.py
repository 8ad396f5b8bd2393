"""One thing `fairtrial doctor` says about this machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """`ok` None means: of no concern here, or cannot be told."""

    name: str
    ok: bool | None
    detail: str
    remedy: str = ""
