"""Finding an install: npm links, platform packages, virtual environments, versions without starting anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import Budget, LaunchRequest
from fairtrial.wire import install


def linked(tmp_path: Path, target: str, content: bytes = b"#!/usr/bin/env node\n") -> Path:
    """`target` below tmp_path, and a link to it in bin/."""
    file = tmp_path / target
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    file.chmod(0o755)
    link = tmp_path / "bin" / "program"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(file)
    return link


def test_native_program_behind_a_wrapper_script(tmp_path: Path) -> None:
    """A JavaScript wrapper leads to the platform package beside it; without one the fault says what is missing."""
    link = linked(tmp_path, "node_modules/@a/cli/bin/cli.js")
    with pytest.raises(Fault, match="no native cli beside it"):
        install.native(link, "cli", ("@a/cli-*/cli",))
    binary = tmp_path / "node_modules/@a/cli-linux-x64/cli"
    binary.parent.mkdir(parents=True)
    binary.write_bytes(b"\x7fELF")
    assert install.native(link, "cli", ("@a/cli-*/cli",)) == binary


def test_native_program_itself(tmp_path: Path) -> None:
    """A link to a native binary is followed; somebody's own script outside node_modules is taken as it is."""
    assert install.native(linked(tmp_path, "opt/cli", b"\x7fELFxx"), "cli", ()) == tmp_path / "opt/cli"
    own = tmp_path / "own.sh"
    own.write_text("#!/bin/sh\n")
    assert install.native(own, "cli", ()) == own


def test_package_version(tmp_path: Path) -> None:
    """The nearest package.json at or above the program, not past its node_modules folder, broken ones being None."""
    link = linked(tmp_path, "node_modules/@a/cli/dist/cli.js")
    assert install.package_version(link) is None
    package = tmp_path / "node_modules/@a/cli/package.json"
    package.write_text(json.dumps({"version": "1.2.3"}))
    assert install.package_version(link) == "1.2.3"
    for broken in ("{", "[]", '{"version": 3}'):
        package.write_text(broken)
        assert install.package_version(link) is None


def test_distribution_version(tmp_path: Path) -> None:
    """The dist-info folder of the environment tells the version, whatever the spelling of the name."""
    script = linked(tmp_path / "venv", "real/bin/mini")
    site = tmp_path / "venv/real/lib/python3.11/site-packages"
    assert install.distribution_version(script, "mini-swe-agent") is None
    (site / "mini_swe_agent-2.4.6.dist-info").mkdir(parents=True)
    assert install.distribution_version(script, "Mini-SWE.agent") == "2.4.6"


def test_version_of_a_program(tmp_path: Path) -> None:
    """The first dotted number it prints; a failing program is the fault cli_missing with its own last line."""
    program = tmp_path / "program"
    says = '[ "$1" = --version ] && echo "cli 2.1.197 (Claude Code)" && exit 0'
    program.write_text(f"#!/bin/sh\n{says}\necho broken >&2; exit 3\n")
    program.chmod(0o755)
    assert install.version([str(program)]) == "2.1.197"
    with pytest.raises(Fault, match=r"cli_missing: .* failed: broken"):
        install.version([str(program)], "--other")


def asked(tmp_path: Path) -> LaunchRequest:
    model = {"name": "m", "id": "x", "options": {}, "rehearsal": True}
    return LaunchRequest("p", "/task", "/home/agent", model, {}, Budget(1), None, {}, None, 1, tmp_path)


def test_python_program_shows_no_other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The base interpreter's own packages are covered; an environment that holds fairtrial itself is refused."""
    base, venv = tmp_path / "base", tmp_path / "venv"
    for folder in (base / "bin", base / "lib/python3.11/site-packages/fairtrial", venv / "bin"):
        folder.mkdir(parents=True)
    (venv / "lib/python3.11/site-packages").mkdir(parents=True)
    (base / "bin/python3.11").write_bytes(b"\x7fELF")
    (venv / "bin/python3").symlink_to(base / "bin/python3.11")
    script = venv / "bin/mini"
    script.write_text("#!/bin/sh\n")
    made = install.python_program(script, "a.b", "c", asked(tmp_path))
    targets = [bind.target for bind in made.binds]
    assert targets[:2] == ["/run/ft/cli/python", "/run/ft/cli/python/lib/python3.11/site-packages"]
    assert list(made.binds[1].source.iterdir()) == []
    assert made.argv == ("/run/ft/cli/python/bin/python3.11", "-I", "/run/ft/cli/start.py")
    monkeypatch.setattr(install, "_OURS", venv / "lib/python3.11/site-packages/fairtrial")
    with pytest.raises(Fault, match="install mini in an environment of its own"):
        install.python_program(script, "a.b", "c", asked(tmp_path))
