"""Where a traced command lies, as a lookup inside the box would find it."""

from __future__ import annotations

from fairtrial.contracts.protocols import Bind
from fairtrial.instruments.trace import places

from tests import trace_rig


def test_places_are_those_a_lookup_inside_would_find(tmp_path):
    """Binds are followed, links to scripts and writable folders are never bound over, the rest is."""
    tools, lib = tmp_path / "cli" / "bin", tmp_path / "cli" / "lib" / "tool" / "bin"
    for folder in (tools, lib):
        folder.mkdir(parents=True)
    for path, text in ((tools / "solo", "#!/bin/sh\n"), (lib / "npx-cli.js", "#!/usr/bin/env node\n")):
        path.write_text(text)
        path.chmod(0o755)
    (tools / "npx").symlink_to("../lib/tool/bin/npx-cli.js")
    box = trace_rig.stage(tmp_path / "s", []).box
    box.binds.append(Bind(tmp_path / "cli", "/opt/cli"))
    box.path.append("/opt/cli/bin")
    solo, npx = (places.find(name, box, boxed=True) for name in ("solo", "npx"))
    assert (solo.seen, solo.host, solo.over) == ("/opt/cli/bin/solo", tools / "solo", "/opt/cli/bin/solo")
    assert (npx.seen, npx.over) == ("/opt/cli/bin/npx", None)
    python = places.find("python", box, boxed=True)
    assert python.seen == "/run/ft/bin/python" and python.over == str(places.interpreter())
    assert places.find("no-such-command", box, boxed=True) is None
    box.binds[0] = Bind(tmp_path / "cli", "/opt/cli", writable=True)
    assert places.find("solo", box, boxed=True).over is None
