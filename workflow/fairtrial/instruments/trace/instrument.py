"""The command trace: shims for the configured commands inside the box, the recorder outside.

stage.folder/trace.jsonl        one line a command (schemas/trace.schema.json), in the order they started
stage.folder/command-output/    captured stdout and stderr, capped
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import RUN, Bind, Json, Stage
from fairtrial.instruments.trace import places, policy, repository, shims
from fairtrial.instruments.trace.hooks import Hook
from fairtrial.instruments.trace.places import Place
from fairtrial.instruments.trace.recorder import Recorder
from fairtrial.instruments.trace.records import Caps

if TYPE_CHECKING:
    from fairtrial.instruments.trace.short import ShortFolder

SHIMS, REAL, TRACE, PYTHON = f"{RUN}/shims", f"{RUN}/real", f"{RUN}/trace", f"{RUN}/python"
LONGEST_SOCKET = 100


class Trace:
    """One attempt's command trace; see contracts.protocols.Instrument.

    `refusals`: the toolset's policy. `on_command_end`: called with a command's span when it ended, before its caller
    goes on; the tree id it returns stands in the line's `snapshot`. `boxed` False: no bubblewrap, so only PATH leads
    to the shims. `kind`: auto, compiled or python. `sync`: a command waits for the recorder before it starts; without
    a box that is how the agent program itself is told apart.
    """

    name = "trace"

    def __init__(
        self, refusals: Json | None = None, on_command_end: Hook | None = None, *, boxed: bool = True,
        cache: Path | None = None, kind: str = "auto", caps: Caps | None = None, sync: bool | None = None,
    ) -> None:  # fmt: skip
        self._refusals = refusals
        self._hook = on_command_end
        self._boxed = boxed
        self._sync = not boxed if sync is None else sync
        self._cache = cache or shims.cache_folder()
        self._kind = kind
        self._caps = caps or Caps()
        self._recorder: Recorder | None = None
        self._clock_ns: int | None = None
        self._short: ShortFolder | None = None
        self._python: Path | None = None
        self._before: repository.State | None = None
        self._facts: Json = {"shim": None, "reason": "no command is configured", "commands": [], "missing": []}

    def prepare(self, stage: Stage) -> None:
        """Place shims and binds and start the recorder. Raises Fault('sandbox')."""
        names = stage.recipe["instruments"]["trace"]
        if not names:
            return
        if not hasattr(socket, "SO_PEERCRED") or sys.platform != "linux":
            self._facts["reason"] = "the command trace needs Linux"
            return
        found = [p for n in names if (p := places.find(n, stage.box, boxed=self._boxed))]
        missing = sorted(set(names) - {p.name for p in found})
        self._facts.update(commands=sorted(p.name for p in found), missing=missing, reason="")
        self._before = repository.state(stage.box.workspace)
        try:
            self._set_up(stage, found)
        except OSError as problem:
            raise Fault("sandbox", f"the command trace cannot be set up: {problem}") from problem

    def _set_up(self, stage: Stage, found: list[Place]) -> None:
        folder, private = stage.scratch / "shims", stage.scratch / "trace"
        folder.mkdir(parents=True)
        private.mkdir()
        listens = private / "trace.sock"
        if not self._boxed and len(str(listens)) > LONGEST_SOCKET:
            listens = self._short_folder() / "trace.sock"
        commands = self._commands(found)
        seen_shims, seen_trace = (SHIMS, TRACE) if self._boxed else (str(folder), str(private))
        where = f"{TRACE}/trace.sock" if self._boxed else str(listens)
        config = private / "config"
        config.write_bytes(
            policy.text(commands, where, cap=self._caps.stream_bytes, sync=self._sync, policy=self._refusals)
        )
        proof = self._place(folder, private, [c.name for c in commands], seen_trace)
        self._recorder = Recorder(listens, stage.folder / "command-output", proof, self._caps, self._hook)
        if self._boxed:
            stage.box.binds += self._binds(folder, private, found)
        else:
            self._facts["reason"] += "; " * bool(self._facts["reason"]) + "no box: only PATH leads to the shims"
        stage.box.path.insert(0, seen_shims)
        if "PATH" in stage.box.env:
            stage.box.env["PATH"] = f"{seen_shims}:{stage.box.env['PATH']}"

    def _short_folder(self) -> Path:
        """A folder with a short path, gone after stop()."""
        if self._short is None:
            from fairtrial.instruments.trace import short

            self._short = short.ShortFolder()
        return self._short.path

    def _place(self, folder: Path, private: Path, names: list[str], seen_trace: str) -> Callable[[int], bool]:
        built, said = (None, "asked for python") if self._kind == "python" else shims.compiled(self._cache)
        if built is None and self._kind == "compiled":
            raise Fault("sandbox", f"the compiled shim was asked for, and {said}")
        if built is not None:
            self._facts.update(shim="compiled", linking=said, proof="executable")
            return shims.proof_compiled(shims.place_compiled(built, folder, names, f"{seen_trace}/config"))
        self._facts.update(shim="python", reason=said, proof="arguments")
        home = private / "python"
        if not self._boxed and not shims.starts_scripts(home):
            home = self._short_folder() / "python"
        inside = PYTHON if self._boxed else str(home)
        python = shims.place_python(folder, names, home, inside=inside, config=f"{seen_trace}/config")
        self._python = home
        return shims.proof_python(folder, python)

    def _commands(self, found: list[Place]) -> list[policy.Command]:
        """What the shims must know; a file that is bound over also answers to its own name (python3.11)."""
        commands = {}
        for place in found:
            real = f"{REAL}/{Path(place.over).name}" if place.over else place.seen
            commands[place.name] = policy.Command(place.name, real, place.seen)
            if place.over:
                name = Path(place.over).name
                commands.setdefault(name, policy.Command(name, real, place.over))
        return [commands[name] for name in sorted(commands)]

    def _binds(self, folder: Path, private: Path, found: list[Place]) -> list[Bind]:
        binds = [Bind(folder, SHIMS), Bind(private, TRACE)]
        if self._python:
            binds.append(Bind(self._python, PYTHON))
        over = {p.over: p.host.resolve() for p in found if p.over}
        self._facts["covered_paths"] = sorted(over)
        for path, host in over.items():
            binds += [Bind(host, f"{REAL}/{Path(path).name}"), Bind(folder / Path(path).name, path)]
        return binds

    def start(self, stage: Stage, main_pid: int, clock_ns: int) -> None:
        """The agent's main process exists."""
        self._clock_ns = clock_ns
        if self._recorder:
            self._recorder.set_main(main_pid)

    def stop(self, stage: Stage) -> None:
        """Write the trace. Nothing of the attempt is alive any more."""
        recorder, self._recorder = self._recorder, None
        if self._short:
            self._short.close()
            self._short = None
        if recorder is None:
            return
        recorder.close()
        origin = self._clock_ns if self._clock_ns is not None else recorder.opened_ns
        with (stage.folder / "trace.jsonl").open("w", encoding="ascii", newline="\n") as file:
            for record in recorder.records.lines:
                line = dict(record.line)
                line["started_ns"] -= origin
                line["ended_ns"] = None if line["ended_ns"] is None else line["ended_ns"] - origin
                file.write(json.dumps(line, ensure_ascii=True, separators=(",", ":")) + "\n")
        self._facts.update(recorder.counts())
        if self._before:
            self._facts["repository"] = repository.change(self._before, repository.state(stage.box.workspace))

    def facts(self) -> Json:
        """Which shim and why, what is traced, what is covered, and what was capped, dropped or not proven."""
        return dict(self._facts)
