"""What a stage command imports before it does anything stays small: it is paid for every attempt and every grade."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Milliseconds of CPU each, measured with `python -X importtime`: 50 for jsonschema, 7 for inspect, 2 for most others.
HEAVY = {
    "jsonschema", "yaml", "pandas", "pyarrow", "scipy", "numpy", "aiohttp", "asyncio", "dataclasses", "inspect", "ast",
    "statistics", "platform", "decimal", "tomllib", "pkgutil", "importlib.metadata", "logging", "email", "http.client",
}  # fmt: skip
BEFORE_THE_AGENT = {"datetime", "random", "tempfile", "secrets"}
COMMANDS = {
    "attempt": [
        "fairtrial.__main__", "fairtrial.cli.attempt", "fairtrial.capture.attempt", "fairtrial.capture.execute",
        "fairtrial.instruments.sandbox.run", "fairtrial.instruments.trace.instrument",
        "fairtrial.instruments.snapshots.instrument",
        "fairtrial.harnesses.stand_in.launch", "fairtrial.harnesses.command.launch", "fairtrial.toolsets.git.toolset",
    ],
    "grade": ["fairtrial.__main__", "fairtrial.cli.grade", "fairtrial.grading.grade"],
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_stage_command_imports_nothing_heavy(command: str) -> None:
    """Everything imported before an agent starts, and before a judgement begins."""
    code = f"import sys, {', '.join(COMMANDS[command])}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded & (HEAVY | (BEFORE_THE_AGENT if command == "attempt" else set())) == set()
