"""Watches the workspace while the agent works: a look whenever it changed and at the end of traced commands.

Leaves snapshots.json (the looks), snapshots/pack (their contents) and workspace.patch in the attempt folder.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import Json, Stage
from fairtrial.contracts.records import digest, dump, write_bytes
from fairtrial.instruments.snapshots.manifest import CACHES, IGNORE, REPOSITORIES
from fairtrial.instruments.snapshots.repository import repository, small
from fairtrial.instruments.snapshots.store import Caps, Store
from fairtrial.instruments.snapshots.watch import Watcher, watcher_for

if TYPE_CHECKING:
    from fairtrial.instruments.snapshots.diff import Patch

SETTLED_NS = 200_000_000  # a tree that stood this long was no half-written one
MOST_LOOKS = 20_000
_REST = 10  # after a look that took t the watcher rests 10 t, so it is never busy for more than a tenth of the time
_WHOLE_NS = 5_000_000_000  # a change after this long is an occasion to walk everything, should an event be missed
_COMMANDS_SHARE = 0.03  # part of the time that looks at command ends may take, and what they may always take:
_COMMANDS_FREE_NS = 100_000_000


class Snapshots:
    """The instrument. `prepare` must come after everything else that puts files into the workspace."""

    name = "snapshots"

    def __init__(
        self, caps: Caps | None = None, watcher: Callable[[Path, frozenset[str]], Watcher] = watcher_for
    ) -> None:
        self._caps = caps or Caps()
        self._make_watcher = watcher
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._store: Store | None = None
        self._watcher: Watcher | None = None
        self._clock_ns: int | None = None
        self._looked_ns = 0  # monotonic, when the last walk began
        self._walked_ns = 0  # when the last whole one began
        self._took: list[int] = []
        self._commands_ns = 0
        self._counts = {"errors": 0, "command_looks_skipped": 0}
        self._error: str | None = None
        self._named: str | None = None
        self._capped = self._missed = False
        self._patch: Patch | None = None
        self._repositories: dict[str, Json] = {}
        self.looks: list[Json] = []
        self.start_tree: str | None = None
        self.end_tree: str | None = None
        self.base: str | None = None

    def prepare(self, stage: Stage) -> None:
        """Capture the start tree and begin to watch. Raises Fault('disk') when it cannot be written."""
        root = stage.box.workspace
        self._versioned = versioned = any((root / name).is_dir() for name in REPOSITORIES)
        asked = frozenset(stage.recipe.get("instruments", {}).get("snapshot_ignore", ()))
        self._root = root
        self._ignore = (CACHES if versioned and small(root) else IGNORE) | asked
        self._keep_out = frozenset() if versioned else REPOSITORIES
        below = stage.box.workspace_target.rstrip("/") + "/"
        targets = (bind.target for bind in stage.box.binds)
        self._mounts = frozenset(t.removeprefix(below).strip("/").encode() for t in targets if t.startswith(below))
        self._store = Store(stage.folder / "snapshots", self._caps)
        self._watcher = self._make_watcher(root, self._ignore)
        self._named = self._watcher.name
        try:
            self.start_tree = self._store.capture(root, self._keep_out, mounts=self._mounts)
            self._look("start")
        except OSError as error:
            raise Fault("disk", f"the start tree could not be kept: {error}") from None
        self.base = self.start_tree if self.looks[0]["tree"] != self.start_tree else None
        self.looks[0]["settled"] = True  # nothing runs yet

    def start(self, stage: Stage, main_pid: int, clock_ns: int) -> None:
        """The agent runs: looks are stamped from here on."""
        self._clock_ns = clock_ns
        self._thread = threading.Thread(target=self._watch, name="snapshots", daemon=True)
        self._thread.start()

    def capture_now(self, reason: str = "command", span: str | None = None) -> str | None:
        """Look now, from any thread; the tree id, or None when there is none (not running, capped, too busy).

        Costs microseconds when nothing changed since the last look.
        """
        with self._lock:
            if self._clock_ns is None or self._stopping.is_set():
                return None
            began = time.monotonic_ns()
            if self._commands_ns > _COMMANDS_FREE_NS + _COMMANDS_SHARE * (began - self._clock_ns):
                self._counts["command_looks_skipped"] += 1
                return None
            tree = self._try_look(reason, span)
            self._commands_ns += time.monotonic_ns() - began
            return tree

    def stop(self, stage: Stage) -> None:
        """Capture the end tree, write the patch and the record. Raises Fault('disk') when they cannot be written."""
        self._stopping.set()
        if self._watcher:
            self._watcher.wake()
        if self._thread:
            self._thread.join()
        try:
            if self._store and self._clock_ns is not None and self.end_tree is None:
                self._finish(stage, self._store)
        except OSError as error:
            raise Fault("disk", f"the end tree could not be kept: {error}") from None
        finally:
            if self._watcher:
                self._watcher.close()
            if self._store:
                self._store.close()
            self._watcher = None

    def _finish(self, stage: Stage, store: Store) -> None:
        from fairtrial.instruments.snapshots.diff import make_patch

        if self._try_look("change", None) == self.looks[-1]["tree"]:
            self.looks[-1]["settled"] = True  # nothing runs any more
        self.end_tree = store.capture(self._root, self._keep_out, at_rest=True, mounts=self._mounts)
        self._append("end", None, self.end_tree, settled=True)
        self._patch = make_patch(store, self.start_tree or "", self.end_tree, stage.scratch)
        if self._patch.content is not None:
            write_bytes(stage.folder / "workspace.patch", self._patch.content, durable=False)
        dump(stage.folder / "snapshots.json", self.record(), durable=False)

    def record(self) -> Json:
        """snapshots.json; see schemas/snapshots.schema.json."""
        from fairtrial.instruments.snapshots.diff import Patch

        patch = self._patch or Patch(None, "not made")
        return {
            "schema_version": 1, "start": self.start_tree, "end": self.end_tree, "base": self.base,
            "ignore": sorted(self._ignore - IGNORE), "looks": self.looks, "repositories": self._repositories,
            "capped": self._capped, "patch": {**patch.facts(), "line_hashes": patch.line_hashes},
        }  # fmt: skip

    def facts(self) -> Json:
        """For evidence.json: how looks were made, how many, what they cost, what was left out, the patch's figures."""
        store = self._store
        return {
            "watcher": self._named, "looks": len(self.looks),
            "trees": len({look["tree"] for look in self.looks}), "capped": self._capped, **self._counts,
            "error": self._error, "look_ms": _milliseconds(self._took), "pack_bytes": store.pack.size if store else 0,
            "skipped": dict(store.seen.skipped) if store else {}, "start_tree": self.start_tree,
            "end_tree": self.end_tree, "patch": self._patch.facts() if self._patch else None,
        }  # fmt: skip

    def _watch(self) -> None:
        watcher = self._watcher
        while watcher and not self._stopping.is_set():
            # asking inotify reads no file, and says until when the tree was still this one
            rests = self.looks[-1]["settled"] and watcher.name != "inotify"
            watcher.wait(1.0 if rests else SETTLED_NS / 1e9 + 0.01)
            if self._stopping.is_set():
                return
            before = len(self._took)
            self._try_look("change", None)
            if len(self._took) > before:
                self._stopping.wait(min(1.0, _REST * self._took[-1] / 1e9))

    def _try_look(self, reason: str, span: str | None) -> str | None:
        """A look that failed is counted and costs the agent nothing; the end tree is what must not fail."""
        with self._lock:
            try:
                return self._look(reason, span)
            except (OSError, Fault) as error:
                self._missed = True  # what the watcher said is used up
                self._counts["errors"] += 1
                self._error = str(error)
                return None

    def _look(self, reason: str, span: str | None = None) -> str | None:
        store, watcher = self._store, self._watcher
        if store is None or watcher is None or self._capped:
            return None
        now = time.monotonic_ns()
        paths = watcher.take()
        if self.looks and paths is not None and not paths and not self._missed:
            return self._same(reason, span, now)
        if not self.looks or self._missed or now - self._walked_ns > _WHOLE_NS:
            paths, self._walked_ns = None, now
        tree = store.capture(self._root, self._ignore, watcher=watcher, mounts=self._mounts, only=paths)
        self._missed = False
        self._looked_ns = store.seen.began_ns
        self._took.append(store.seen.ended_ns - store.seen.began_ns)
        self._capped = store.full or len(self.looks) >= MOST_LOOKS
        if self._capped:
            return None  # this tree is not whole
        settled = store.seen.quiet_ns >= SETTLED_NS
        if self.looks and self.looks[-1]["tree"] == tree:
            self.looks[-1]["settled"] |= settled
            self._still(self._looked_ns)
            if reason == "change":
                return tree
        self._append(reason, span, tree, settled=settled)
        return tree

    def _still(self, moment_ns: int) -> None:
        """The last look's tree was still there at this moment, so what comes next came later."""
        if self._clock_ns is not None:
            self.looks[-1]["until_ns"] = max(0, moment_ns - self._clock_ns)

    def _same(self, reason: str, span: str | None, asked_ns: int) -> str:
        """No event since the last walk: the tree is what it was."""
        last = self.looks[-1]
        self._still(asked_ns)
        self._capped |= len(self.looks) >= MOST_LOOKS
        last["settled"] |= time.monotonic_ns() - self._looked_ns >= SETTLED_NS
        if reason != "change":
            self._append(reason, span, last["tree"], settled=last["settled"], walked=False)
        return str(last["tree"])

    def _append(self, reason: str, span: str | None, tree: str, *, settled: bool, walked: bool = True) -> None:
        store, now = self._store, time.monotonic_ns()
        if store is None:
            return
        ended = store.seen.ended_ns if walked else now
        known = self.looks[-1] if self.looks and self.looks[-1]["tree"] == tree else None
        key = known["repository"] if known else self._repository(store)
        self.looks.append({
            "at_ns": max(0, ended - self._clock_ns) if self._clock_ns is not None else 0,
            "took_ns": ended - store.seen.began_ns if walked and self._clock_ns is not None else 0,
            "tree": tree, "reason": reason, "settled": settled, "span": span, "repository": key,
        })  # fmt: skip

    def _repository(self, store: Store) -> str | None:
        found = repository(store.seen.tree, store.content) if self._versioned else None
        if found is None:
            return None
        key = digest(found)
        self._repositories[key] = found
        return key


def _milliseconds(took: list[int]) -> dict[str, Any]:
    if not took:
        return {"median": None, "most": None}
    took = sorted(took)
    median = (took[len(took) // 2] + took[~(len(took) // 2)]) / 2
    return {"median": round(median / 1e6, 3), "most": round(max(took) / 1e6, 3)}
