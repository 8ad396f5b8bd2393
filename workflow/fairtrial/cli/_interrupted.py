"""Ctrl-C in a verb that takes a while."""

from __future__ import annotations

import sys

CODE = 130  # as a shell says of a command that SIGINT ended


def interrupted() -> int:
    """Say it in one line; the exit code."""
    sys.stdout.flush()
    sys.stderr.write("fairtrial: interrupted\n")
    return CODE
