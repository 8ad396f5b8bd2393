"""The isolation record: what was in force around one process, as evidence.json keeps it."""

from __future__ import annotations

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import Box, Json
from fairtrial.instruments.sandbox.backends import Policy
from fairtrial.instruments.sandbox.canary import Answers
from fairtrial.instruments.sandbox.started import Started

_FAILED = {
    "home_absent": "the home folder of this machine can be seen",
    "hidden_absent": "verifier, results or other attempts can be read",
    "acceptance_read_only": "acceptance can be written",
    "network_refused": "other addresses than the endpoint can be reached",
    "environment_clean": "the runner's environment or paths can be seen",
    "kernel_read_only": "settings of this machine's kernel can be written",
    "processes_hidden": "processes of this machine can be seen",
}


def degraded(answers: Answers) -> list[str]:
    """What the canaries found open, in words."""
    return [words for name, words in _FAILED.items() if answers.get(name) is False]


def check(answers: Answers, policy: Policy) -> None:
    """With `isolation: required` nothing may be open. Fault('sandbox')."""
    found = degraded(answers)
    if policy == "required" and found:
        raise Fault("sandbox", f"isolation is required, but inside the box {'; '.join(found)}")


def isolation(started: Started, box: Box) -> Json:
    """The record of schemas/evidence.schema.json, isolation."""
    backend = started.backend
    boxed = backend.kind == "bwrap"
    cut = boxed or (backend.kind == "landlock" and backend.landlock_abi >= 4)
    said = list(dict.fromkeys([*backend.degraded, *started.lacking, *degraded(started.answers)]))
    return {
        "backend": backend.kind,
        "version": backend.version,
        "userns": boxed,
        "pidns": boxed,
        "netns": box.network if cut else "host",
        "seccomp": backend.seccomp,
        "degraded": said,
        "canaries": dict(started.answers),
    }
