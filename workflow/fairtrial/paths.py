"""The results tree; the only place that spells a path in it.

results/
  attempts/<suite>/<task>/<harness>/<model>/<recipe12>/r<n>/
      evidence.json     the seal, written last        sealed    the declared output, holds the seal's digest
      agent-stdout.txt agent-stderr.txt agent-times.jsonl trace.jsonl command-output/
      snapshots.json snapshots/ workspace.patch requests.jsonl ...
      lease.json        while it is being run         redo.json  exclude.json
      grades/<grade12>/result.json agent-events.json trace-buckets.json ...
  faults/<suite>/<task>/<harness>/<model>/<recipe12>/r<n>/<fault id>/fault.json
  redone/<suite>/.../r<n>/<time>/                     attempts set aside by `fairtrial redo`
  objects/files/<aa>/<sha256>   objects/recipes/<recipe12>.json   objects/grades/<grade12>.json
  ledger/<experiment>/    logs/    tries/
  <experiment>/matrix.json dataset/ scorecard/ report/ so-far/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import lean

RESERVED = frozenset(
    {"attempts", "faults", "objects", "ledger", "logs", "tries", "redone", "invocations", "scratch", "slots"}
)


@lean(frozen=True)
class AttemptId:
    """suite/task/harness/model/recipe12/rN."""

    suite: str
    task: str
    harness: str
    model: str
    recipe: str
    repetition: int

    def __str__(self) -> str:
        return f"{self.suite}/{self.task}/{self.harness}/{self.model}/{self.recipe}/r{self.repetition}"

    @classmethod
    def parse(cls, text: str) -> AttemptId:
        """From its spelling, or from any path that ends in it; UserError otherwise."""
        parts = [p for p in text.strip().removesuffix("/sealed").rstrip("/").split("/") if p]
        tail = parts[-6:]
        if len(tail) < 6 or not tail[5].startswith("r") or not tail[5][1:].isdigit() or len(tail[4]) != 12:
            raise UserError(f"{text!r} is no attempt; an attempt is suite/task/harness/model/recipe12/rN")
        return cls(tail[0], tail[1], tail[2], tail[3], tail[4], int(tail[5][1:]))


def planned_by(cell: Mapping[str, Any]) -> list[str]:
    """The attempts of one cell of matrix.json, as AttemptId spells them, first repetition first."""
    stem = "/".join(str(cell[part]) for part in ("suite", "task", "harness", "model", "recipe"))
    return [f"{stem}/r{repetition}" for repetition in range(1, cell["repetitions"] + 1)]


@lean(frozen=True)
class Attempt:
    """The folder of one attempt and the files in it."""

    id: AttemptId
    folder: Path

    @property
    def evidence(self) -> Path:
        """The seal."""
        return self.folder / "evidence.json"

    @property
    def sealed(self) -> Path:
        """The declared output: one line, the seal's sha256."""
        return self.folder / "sealed"

    @property
    def lease(self) -> Path:
        """Held while the attempt is being run."""
        return self.folder.parent / f".{self.folder.name}.lease.json"

    @property
    def redo(self) -> Path:
        """Why it was set aside and is to be paid again."""
        return self.folder / "redo.json"

    @property
    def exclude(self) -> Path:
        """Why it is left out."""
        return self.folder / "exclude.json"

    def grade(self, grade12: str) -> Path:
        """The folder of one grade."""
        return self.folder / "grades" / grade12

    def result(self, grade12: str) -> Path:
        """The validated record of one grade."""
        return self.grade(grade12) / "result.json"


@lean(frozen=True)
class Experiment:
    """The folder of one experiment: matrix, tables, scorecard, report."""

    folder: Path

    @property
    def matrix(self) -> Path:
        """Every planned attempt."""
        return self.folder / "matrix.json"

    @property
    def dataset(self) -> Path:
        """The Parquet tables and problems.json."""
        return self.folder / "dataset"

    @property
    def scorecard(self) -> Path:
        """scorecard.parquet, scorecard.csv, scorecard.json."""
        return self.folder / "scorecard"

    @property
    def report(self) -> Path:
        """index.html and what stands beside it."""
        return self.folder / "report"

    @property
    def so_far(self) -> Path:
        """dataset/, scorecard/ and report/ of an unfinished experiment."""
        return self.folder / "so-far"


def tree_of(folder: Path) -> Path:
    """The results tree an attempt folder is part of; a copied one alone has none, and any folder does."""
    parents = folder.absolute().parents
    return parents[6] if len(parents) > 6 else parents[0]


def once(records: Iterable[Path]) -> Iterator[Path]:
    """Fault or redo records of several results trees, each once: a tree that was copied holds the same ones."""
    seen: set[tuple[str, ...]] = set()
    for path in records:
        place = path.parts[-8:]  # attempt, its fault or time, the record
        if place not in seen:
            seen.add(place)
            yield path


@lean(frozen=True)
class Results:
    """A results tree; `root` is usually ./results."""

    root: Path

    def attempt(self, attempt_id: AttemptId | str) -> Attempt:
        """The folder of one attempt, there or not."""
        parsed = AttemptId.parse(attempt_id) if isinstance(attempt_id, str) else attempt_id
        return Attempt(parsed, self.root / "attempts" / str(parsed))

    def attempts(self) -> Iterator[Attempt]:
        """Every attempt folder on disk, sorted."""
        for folder in sorted((self.root / "attempts").glob("*/*/*/*/*/r*")):
            if folder.is_dir() and folder.name[1:].isdigit():
                yield self.attempt("/".join(folder.parts[-6:]))

    def faults(self, attempt_id: AttemptId | str) -> Path:
        """The folder that holds one folder per fault of this attempt."""
        return self.root / "faults" / str(attempt_id)

    def fault_records(self) -> Iterator[Path]:
        """Every fault.json, sorted."""
        yield from sorted((self.root / "faults").glob("*/*/*/*/*/r*/*/fault.json"))

    def redone(self, attempt_id: AttemptId | str) -> Path:
        """The folder that holds what `fairtrial redo` set aside."""
        return self.root / "redone" / str(attempt_id)

    def redone_records(self) -> Iterator[Path]:
        """Every redo.json of attempts set aside, sorted."""
        yield from sorted((self.root / "redone").glob("*/*/*/*/*/r*/*/redo.json"))

    def experiment(self, name: str) -> Experiment:
        """One experiment's folder; reserved names are refused."""
        if name in RESERVED:
            raise UserError(f"name: {name!r} is reserved; reserved names: {', '.join(sorted(RESERVED))}")
        return Experiment(self.root / name)

    @property
    def objects(self) -> Path:
        """Frozen files by content."""
        return self.root / "objects"

    def blob(self, sha256: str) -> Path:
        """One frozen file."""
        return self.objects / "files" / sha256[:2] / sha256

    def recipe(self, recipe12: str) -> Path:
        """A frozen recipe."""
        return self.objects / "recipes" / f"{recipe12}.json"

    def gradespec(self, grade12: str) -> Path:
        """A frozen grade specification."""
        return self.objects / "grades" / f"{grade12}.json"

    def ledger(self, experiment: str) -> Path:
        """One file per reservation and settlement."""
        return self.root / "ledger" / experiment

    @property
    def logs(self) -> Path:
        """Logs of the rules."""
        return self.root / "logs"

    def scratch(self, token: str) -> Path:
        """Where one attempt is run; deleted afterwards."""
        return self.root / "scratch" / token

    @property
    def tries(self) -> Path:
        """Attempts outside any matrix."""
        return self.root / "tries"

    def invocation(self, invocation: str) -> Path:
        """Flags of one start of Snakemake: stop flag, preflight, fault counts."""
        return self.root / "invocations" / invocation

    def slots(self, name: str) -> Path:
        """One lease per attempt that may run at once for a harness or provider."""
        return self.root / "slots" / name
