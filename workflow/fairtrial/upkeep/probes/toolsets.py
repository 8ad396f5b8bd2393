"""Doctor: which version-control tools tasks can be run with here."""

from __future__ import annotations

from typing import Any

from fairtrial import registry
from fairtrial.upkeep.finding import Finding

_REMEDIES = {
    "git": "install git",
    "jj": "install jj; on Debian, .ci/stages/05-jj puts it beside what is there",
    "but": "install GitButler's command line: https://docs.gitbutler.com/cli-guides/installation",
}


def probe() -> list[Finding]:
    """One finding per toolset. Only git is asked of every machine; without another one its arms are skipped."""
    found = []
    for name in registry.names("fairtrial.toolsets"):
        toolset: Any = registry.load("fairtrial.toolsets", name, "toolset")
        version = toolset.probe_version()
        if version is None:
            ok = False if name == "git" else None
            found.append(Finding(name, ok, "not installed", _REMEDIES.get(name, f"install {name}")))
        else:
            found.append(Finding(name, True, f"version {version}"))
    return found
