"""What the sections of a report read: the attempts as columns, the arms, and the computed statistics beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Key = tuple[str, str, str, str]  # harness, toolset, adoption, model

AXES = ("harness", "toolset", "adoption", "model", "simulated")
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "star")
COLOURS = 8
FILLS = ("solid", "hollow", "half", "dot")
MOST_LINKED = 2000  # attempts; larger runs have no pages of single attempts
GLYPHS = {"green": "passed", "red": "failed", "timeout": "timed out", "agent_error": "gave up", None: "unscored"}


@dataclass(frozen=True, slots=True)
class Arm:
    """One row of the scorecard: harness x toolset x adoption x model, and how it is drawn."""

    index: int
    id: str  # as the scorecard spells it: harness/toolset/adoption/model
    key: Key
    label: str  # the harness, with toolset and adoption where the run has several
    colour: int
    shape: str
    fill: str
    simulated: bool
    mixed: bool = False  # its attempts ran in more than one harness version

    @property
    def model(self) -> str:
        """The model's slug."""
        return self.key[3]

    @property
    def name(self) -> str:
        """As it stands in sentences."""
        return f"{self.label} {self.model}"


@dataclass
class Report:
    """Everything a section may read. `columns` are the attempts table, one list a column, rows in its order."""

    matrix: Json
    columns: dict[str, list[Any]]
    arms: list[Arm]
    scorecard: Json
    pairs: Json
    problems: list[Json]
    faults: list[Json]
    sources: dict[str, str]  # file of the dataset -> sha256
    so_far: bool
    linked: bool  # attempt pages are written
    compliance: Json = field(default_factory=dict)
    chosen: bool = False  # attempts named one by one, not a whole matrix

    @cached_property
    def rows_of(self) -> dict[int, list[int]]:
        """Arm index -> row numbers, planned ones included."""
        place = {(arm.key, arm.simulated): arm.index for arm in self.arms}
        found: dict[int, list[int]] = {arm.index: [] for arm in self.arms}
        for row, (*key, simulated) in enumerate(zip(*(self.columns[name] for name in AXES), strict=True)):
            found[place[tuple(key), bool(simulated)]].append(row)
        return found

    @cached_property
    def task_of(self) -> list[str]:
        """Per row, the task; with its suite where two suites share a name."""
        suites: dict[str, set[str]] = {}
        for suite, task in zip(self.columns["suite"], self.columns["task"], strict=True):
            suites.setdefault(task, set()).add(suite)
        pairs = zip(self.columns["suite"], self.columns["task"], strict=True)
        return [task if len(suites[task]) == 1 else f"{suite}/{task}" for suite, task in pairs]

    @cached_property
    def tasks(self) -> list[str]:
        """Every planned task, sorted."""
        return sorted(set(self.task_of))

    @cached_property
    def done(self) -> list[bool]:
        """Per row: a result that counts."""
        return [status == "done" for status in self.columns["status"]]

    @cached_property
    def scored(self) -> list[bool]:
        """Per row: it stands in the denominators."""
        pairs = zip(self.done, self.columns["scored"], strict=True)
        return [bool(done and scored) for done, scored in pairs]

    @cached_property
    def cells(self) -> dict[tuple[int, str], list[int]]:
        """(arm index, task) -> rows by repetition."""
        found: dict[tuple[int, str], list[int]] = {}
        for index, rows in self.rows_of.items():
            for row in rows:
                found.setdefault((index, self.task_of[row]), []).append(row)
        return found

    @cached_property
    def complaints(self) -> dict[str, list[str]]:
        """Attempt -> what of it could not be read."""
        found: dict[str, list[str]] = {}
        for problem in self.problems:
            found.setdefault(problem["attempt_id"], []).append(f"{problem['path']}: {problem['reason']}")
        return found

    def count(self, status: str) -> int:
        """Planned attempts of one status."""
        return self.columns["status"].count(status)

    @cached_property
    def calibrating(self) -> set[int]:
        """Indices of arms that never enter a comparison: reference and noop."""
        return {arm.index for arm in self.arms if not self.card(arm)["compared"]}

    @cached_property
    def free(self) -> set[int]:
        """Indices of arms that cost nothing: no cost is no lack there."""
        return {index for index, rows in self.rows_of.items() if all(self.columns["free"][row] for row in rows)}

    @property
    def planned(self) -> int:
        """Rows of the matrix."""
        return len(self.columns["status"])

    @cached_property
    def models(self) -> list[str]:
        """Models in the order of the arms."""
        return list(dict.fromkeys(arm.model for arm in self.arms))

    @cached_property
    def ranked(self) -> list[Arm]:
        """Arms as the scorecard sorts them: pass^k, then pass rate; those without a number last. Not a ranking."""
        place = {row["arm"]: number for number, row in enumerate(self.scorecard["arms"])}
        return sorted(self.arms, key=lambda arm: (place.get(arm.id, len(place)), arm.index))

    @cached_property
    def cards(self) -> dict[str, Json]:
        """The scorecard's row per arm, its column groups laid flat."""
        groups = ("counts", "execution", "correctness", "compliance", "effort", "time_cost")
        rows = self.scorecard["arms"]
        return {row["arm"]: row | {k: v for group in groups for k, v in row[group].items()} for row in rows}

    def card(self, arm: Arm) -> Json:
        """One arm's flat row of the scorecard."""
        return self.cards[arm.id]

    @cached_property
    def by_id(self) -> dict[str, Arm]:
        """Arms by the scorecard's spelling."""
        return {arm.id: arm for arm in self.arms}

    @property
    def k(self) -> int:
        """The largest k: that of the pass^k the rows are sorted by."""
        return int(max(self.scorecard["k"]))

    @property
    def simulated(self) -> bool:
        """Any arm is simulated."""
        return any(arm.simulated for arm in self.arms)

    @property
    def wall_budget(self) -> float:
        """The longest wall budget, seconds."""
        return float(max((w for w in self.columns["wall_budget_seconds"] if w is not None), default=0.0))

    def title_of(self, task: str) -> str:
        """The task's title from the matrix."""
        return self._titles.get(task, task)

    @cached_property
    def _titles(self) -> dict[str, str]:
        names = {(c["suite"], c["task"]): c["title"] for c in self.matrix["cells"]}
        return {task: names.get((suite, task.rsplit("/", 1)[-1]), task) for suite, task in
                zip(self.columns["suite"], self.task_of, strict=True)}  # fmt: skip

    @cached_property
    def programs(self) -> dict[str, list[int]]:
        """Columns of narrow tables: an arm each, or a harness each where there are more than three arms."""
        found: dict[str, list[int]] = {}
        for arm in self.ranked:
            name = arm.name if len(self.arms) <= 3 and len(self.models) > 1 else arm.label
            found.setdefault(name, []).append(arm.index)
        return found

    def values(self, arm: Arm, name: str, *, scored: bool = True) -> list[Any]:
        """Known values of one column over the arm's scored (or done) attempts."""
        keep = self.scored if scored else self.done
        column = self.columns[name]
        return [column[row] for row in self.rows_of[arm.index] if keep[row] and column[row] is not None]


def arms_of(columns: dict[str, list[Any]]) -> list[Arm]:
    """The arms in the order harness, model, toolset, adoption; marks by harness, fills by model."""
    seen = sorted({(*key, bool(simulated)) for *key, simulated in zip(*(columns[name] for name in AXES), strict=True)},
                  key=lambda k: (k[4], k[3], k[0], k[1], k[2]))  # fmt: skip
    several = [len({key[part] for key in seen}) > 1 for part in (1, 2)]
    double = {key[:4] for key in seen if (*key[:4], not key[4]) in set(seen)}
    programs = sorted({_label(key[:4], several) for key in seen})
    models = sorted({key[3] for key in seen})
    mixed = _mixed(columns)
    arms = []
    for index, (*parts, simulated) in enumerate(seen):
        key: Key = (parts[0], parts[1], parts[2], parts[3])
        mark = " (simulated)" if simulated and key in double else ""
        place = programs.index(_label(key, several))
        fill, shape = FILLS[models.index(key[3]) % len(FILLS)], SHAPES[place % len(SHAPES)]
        arms.append(Arm(index, "/".join(key) + mark, key, _label(key, several) + mark, place % COLOURS, shape, fill,
                        bool(simulated), (*key, bool(simulated)) in mixed))  # fmt: skip
    return arms


def _mixed(columns: dict[str, list[Any]]) -> set[tuple[Any, ...]]:
    """Keys of arms with more than one known harness version."""
    found: dict[tuple[Any, ...], set[str]] = {}
    for version, *key, simulated in zip(*(columns[name] for name in ("harness_version", *AXES)), strict=True):
        if version is not None:
            found.setdefault((*key, bool(simulated)), set()).add(version)
    return {key for key, versions in found.items() if len(versions) > 1}


def _label(key: Key, several: Sequence[bool]) -> str:
    extra = [part for part, shown in zip(key[1:3], several, strict=True) if shown]
    return " ".join([key[0], *(f"({part})" for part in extra)])


def load(  # noqa: PLR0917
    dataset: Path, scorecard: Json, pairs: Json, matrix: Json, so_far: bool = False, linked: bool = False,
    chosen: bool = False,
) -> Report:  # fmt: skip
    """The model of the tables in `dataset` and the statistics computed from them."""
    from fairtrial.analysis import dataset_tables as tables
    from fairtrial.contracts.records import file_digest
    from fairtrial.contracts.records import load as record

    table = tables.read(dataset / "attempts.parquet", [c for c in tables.columns("attempts") if c != "changed_lines"])
    columns = {name: tables.plain_list(table[name]) for name in table.column_names}
    faults = tables.read(dataset / "faults.parquet")
    fault_columns = {name: tables.plain_list(faults[name]) for name in faults.column_names}
    rows = [dict(zip(fault_columns, values, strict=True)) for values in zip(*fault_columns.values(), strict=True)]
    problems = record(dataset / "problems.json", made_by="fairtrial dataset").get("problems", [])
    sources = {path.name: file_digest(path) for path in sorted(dataset.glob("*.parquet"))}
    return Report(matrix, columns, arms_of(columns), scorecard, pairs, problems, rows, sources, so_far, linked,
                  chosen=chosen)  # fmt: skip
