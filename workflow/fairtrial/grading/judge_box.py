"""Where grading runs programs: product code in a box without network, the verifier outside it without network too."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import HOME, WORKSPACE, Bind, Box, Limits
from fairtrial.grading import judge_python
from fairtrial.instruments.sandbox import backends, layout
from fairtrial.instruments.sandbox.prefix import prefix
from fairtrial.instruments.sandbox.toolchains import binds_for
from fairtrial.verify.blackbox import BrokenBox, Result, run_child

ACCEPTANCE = f"{WORKSPACE}/acceptance"
LIMITS = Limits(tmp_bytes=1 << 30, file_bytes=1 << 30, processes=1024, output_bytes=8 << 20)


class Words:
    """The argv that box a command, by what is bound; their files stand below `folder` as long as they are used."""

    def __init__(self, folder: Path) -> None:
        self.made: dict[tuple[object, ...], list[str]] = {}
        self._folder = folder
        self._python: list[Bind] = []

    def place(self) -> Path:
        """A fresh path for the files of one box."""
        return self._folder / f"box{len(self.made)}"

    def python(self) -> list[Bind]:
        """The binds every box has."""
        self._python = self._python or judge_python.binds(self._folder / "python")
        return self._python


class Boxes:
    """The boxes of one judgement; `room` is a private folder for their files. UserError when required and not there.

    `requires`: programs that every box shows, wherever they are installed. `words`: what an earlier judgement's boxes
    made, below a folder that is still there, and where this one's are noted for the next.
    """

    def __init__(
        self, policy: backends.Policy, room: Path, requires: Sequence[str] = (), words: Words | None = None
    ) -> None:
        self.policy: backends.Policy = policy
        self.backend = backends.choose(policy)
        self._shown, self._path = binds_for(requires)
        self._room = room
        self._used = 0
        self._words = Words(room) if words is None else words

    def place(self) -> Path:
        """A fresh path below the room."""
        self._used += 1
        return self._room / f"d{self._used}"

    def prefix(self, binds: Sequence[Bind] = ()) -> list[str]:
        """argv that boxes what follows it, its workspace being the current folder; empty without bubblewrap."""
        if self.backend.kind != "bwrap":
            return []
        key = (self.policy, *self._shown, *binds)
        if key not in self._words.made:
            shown = [*self._words.python(), *self._shown, *binds]
            box = Box(Path(), Path(HOME), binds=shown, path=self._path, limits=LIMITS)
            self._words.made[key] = prefix(box, self._words.place(), policy=self.policy)
        return self._words.made[key]

    def python(self) -> str:
        """The interpreter a verifier's child starts."""
        return "python3" if self.prefix() else str(layout.interpreter())

    def run(self, argv: Sequence[str], workspace: Path, seconds: float, binds: Sequence[Bind] = ()) -> Result:
        """Run a command in a box of its own, paths as inside the box. A hang or a crash is a result.

        Raises Fault('sandbox') when the box cannot be built.
        """
        boxed = self.prefix(binds)
        if not boxed:
            return self._supervised(argv, workspace, seconds, binds)
        try:
            return run_child([*boxed, *argv], tuple(argv), workspace, stdin=b"", seconds=seconds, env={})
        except BrokenBox as problem:
            raise Fault("sandbox", f"grading: {problem}") from None

    def _supervised(self, argv: Sequence[str], workspace: Path, seconds: float, binds: Sequence[Bind]) -> Result:
        """Without bubblewrap: Landlock or a plain process, below a supervisor that ends what is left behind."""
        from fairtrial.instruments.sandbox.run import run_simple

        home = self.place()
        home.mkdir(mode=0o700)
        binds = [*self._shown, *binds]
        box = Box(workspace, home, argv=list(argv), binds=binds, path=self._path, limits=LIMITS)
        try:
            done = run_simple(box, seconds, backend=self.backend)
        except Fault as fault:
            raise Fault(fault.kind, f"grading: {fault.message}") from None
        status = done.status if done.status is not None else -(done.signal or 9)
        cut = done.stdout_bytes > len(done.stdout) or done.stderr_bytes > len(done.stderr)
        return Result(tuple(argv), status, done.stdout, done.stderr, done.timed_out, cut, workspace)

    def degraded(self) -> list[str]:
        """What grading could not have on this machine, in words."""
        found = [f"grading: {word}" for word in self.backend.degraded]
        if not self.prefix():
            found.append("grading: the verifier ran product code without a box")
        return found if no_network() else [*found, "grading: the verifier could reach the network"]


@functools.lru_cache(maxsize=1)
def no_network() -> tuple[str, ...]:
    """argv that takes the network from what follows it, proven by running it once; empty where that cannot be had."""
    unshare = shutil.which("unshare")
    if not sys.platform.startswith("linux") or unshare is None:
        return ()
    for argv in ([unshare, "-n"], [unshare, "-U", "--map-current-user", "-n"]):
        done = subprocess.run([*argv, "true"], capture_output=True, check=False, env={"PATH": os.defpath}, timeout=10)
        if done.returncode == 0:
            return tuple(argv)
    return ()


def verifier_environment(home: Path, settings: Path, nonce: str) -> dict[str, str]:
    """All that a verifier's process inherits: an allow-list, no secrets, no variables of whoever started grading."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "FAIRTRIAL_VERIFY": str(settings),
        "FAIRTRIAL_NONCE": nonce,
    }
