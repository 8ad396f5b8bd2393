"""Words that box a command which another program starts: a verifier's children."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from fairtrial.contracts.protocols import Box
from fairtrial.instruments.sandbox import backends, layout, seccomp
from fairtrial.instruments.sandbox.backends import Policy


def prefix(box: Box, folder: Path, *, policy: Policy = "auto", cache: Path | None = None) -> list[str]:
    """Words to put before a command so that it runs in a box of its own, for programs that start children themselves.

    The folder the command is started in becomes the workspace (box.workspace is not looked at), HOME is empty, the
    environment is the box's. `folder` keeps the options as long as the words are used. To end a child, kill its
    process. [] where no box can be had: then the command runs where it stands, with the caller's environment.
    """
    backend = backends.choose(policy, cache)
    if backend.kind != "bwrap" or backend.path is None:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    numbers: dict[str, int] = {}
    redirections = ""
    for fd, (path, content) in enumerate(layout.etc_files(box).items(), 3):
        (folder / Path(path).name).write_bytes(content)
        numbers[path] = fd
        redirections += f" {fd}<{shlex.quote(str(folder / Path(path).name))}"
    words = layout.options(box, numbers, disable_userns=backend.disable_userns, here=True)
    if backend.seccomp:
        (folder / "calls").write_bytes(seccomp.program())
        redirections += f" 8<{shlex.quote(str(folder / 'calls'))}"
        words += ["--seccomp", "8"]
    (folder / "options").write_bytes(b"\0".join(os.fsencode(word) for word in [*words, ""]))
    redirections += f" 9<{shlex.quote(str(folder / 'options'))}"
    blocks = box.limits.file_bytes // 512
    command = f'ulimit -f {blocks}; exec /usr/bin/env -i {shlex.quote(backend.path)} --args 9 -- "$@"{redirections}'
    return ["/bin/sh", "-c", command, "box"]
