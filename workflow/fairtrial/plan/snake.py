"""What the Snakefile uses: the targets, the digests in params, the environment of the stage commands.

Parsing happens in dry runs, under --lint and on cluster nodes too, so nothing here writes a file.
"""

from __future__ import annotations

import gc
import json
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import lean
from fairtrial.contracts.records import digest, file_digest
from fairtrial.paths import Results, planned_by
from fairtrial.plan import config as configuration
from fairtrial.plan import keep, torn
from fairtrial.plan.matrix import Matrix, expand

VARIABLE = "FAIRTRIAL_CONFIG"
STAGE = "FAIRTRIAL_STAGE"
INVOCATION = "FAIRTRIAL_INVOCATION"
# Bumped when the files of a stage change for the same input; a change runs that stage and what follows it.
SCORECARD = 3
DATASET = 3
REPORT = 6
# Snakemake makes millions of objects for a large plan and keeps nearly all: looking for garbage is a tenth of its time.
SELDOM = (200_000, 50, 1_000)
YAML = (".yaml", ".yml")
LONGEST_PAUSE = 3600.0  # seconds between two tries, as in capture/spend/retry.py
TABLES = ("attempts", "checks", "commands", "tool_calls", "requests", "faults")


@lean(frozen=True)
class Plan:
    """Everything the rules need, computed once at parse time."""

    name: str
    matrix: Matrix
    results: list[str]  # every result.json of the matrix
    config: configuration.Config

    @property
    def before_attempt(self) -> Any:
        """Input of an attempt: matrix.json while its recipe is not frozen yet, else nothing.

        A frozen recipe waits for no plan; so another experiment over the same attempts starts none of them.
        """
        return self._until_frozen("recipe", "recipes")

    @property
    def before_grade(self) -> Any:
        """Input of a grade beside the seal: matrix.json while its specification is not frozen yet, else nothing."""
        return self._until_frozen("grade", "grades")

    def _until_frozen(self, key: str, kind: str) -> Any:
        if all(_frozen(kind, digest12) for digest12 in {cell[key] for cell in self.matrix.record["cells"]}):
            return []  # no function: Snakemake would inspect it for every job, an eighth of a plan's time

        def unless(wildcards: Any) -> list[str]:
            return [] if _frozen(kind, getattr(wildcards, key)) else self._plan()

        return unless

    def _plan(self) -> list[str]:
        from snakemake.io import ancient

        return [ancient(f"results/{self.name}/matrix.json")]

    @property
    def attempts(self) -> list[str]:
        """The id of every attempt of the matrix."""
        return [result.removeprefix("results/attempts/").rpartition("/grades/")[0] for result in self.results]

    @property
    def digest(self) -> str:
        """Of the expanded matrix: a task edit changes it, spend.allow does not."""
        return str(self.matrix.record["digest"])

    @property
    def excluded(self) -> str:
        """Of the attempts left out by hand, and of the reasons: a change rebuilds the tables."""
        folders = (result.rpartition("/grades/")[0] for result in self.results)
        marks = [Path(f"{folder}/exclude.json") for folder in folders if os.path.exists(f"{folder}/exclude.json")]  # noqa: PTH110
        return digest([[str(path), file_digest(path)] for path in marks])[:16]

    @property
    def prices(self) -> str:
        """Of the price tables: a change touches cost columns and reports only."""
        return digest({name: model.get("price") for name, model in sorted(self.config.models.items())})[:16]

    @property
    def cpus(self) -> int:
        """Cores one attempt is given."""
        return int(self.config.settings["attempt_resources"]["cpus"])

    @property
    def memory(self) -> int:
        """MB one attempt is given on a cluster."""
        return int(self.config.settings["attempt_resources"]["mem_mb"])

    @property
    def wall_minutes(self) -> int:
        """Runtime a cluster job of one attempt needs at most: the longest wall budget with its grace, for each try.

        An attempt that costs money may first wait as long again for its arm's preflight.
        """
        longest = max(cell["wall_seconds"] for cell in self.matrix.record["cells"])
        faults = self.config.settings["faults"]
        pauses = sum(min(LONGEST_PAUSE, faults["backoff_seconds"] * 2.0**n) for n in range(faults["retries"]))
        one = longest * 1.2 * (1 + faults["retries"]) + pauses
        paid = any(not cell["free"] for cell in self.matrix.record["cells"])
        wait = longest * (3 + faults["retries"]) + pauses + 60
        return int((one + (wait if paid else 0)) / 60) + 5


@cache  # asked once an attempt, and again for every job that Snakemake looks at
def _frozen(kind: str, digest12: str) -> bool:
    results = Results(Path("results"))
    return (results.recipe(digest12) if kind == "recipes" else results.gradespec(digest12)).exists()


def load(raw: dict[str, Any], basedir: Path, cwd: Path, files: Iterable[str | Path] = ()) -> Plan:
    """Check the configuration and expand it; a mistake prints one line a problem and exits 2.

    files: where Snakemake read `raw` from; it takes the last of a key that is given twice, we refuse it.
    """
    gc.set_threshold(*SELDOM)
    keep.whole_outputs()
    try:
        for file in files:
            if Path(file).suffix in YAML:
                configuration.read_yaml(Path(file))
        config = configuration.load(dict(raw), basedir, cwd)
        Results(cwd / "results").experiment(config.settings["name"])
        if os.path.lexists(cwd / "results") and not (cwd / "results").is_dir():
            raise UserError(f"{cwd / 'results'}: is no folder; results are written there")
        matrix = expand(config)
    except UserError as error:
        print(f"fairtrial: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(2)
    os.environ[VARIABLE] = json.dumps({"raw": raw, "basedir": str(basedir)})
    os.environ[STAGE] = json.dumps(stage_settings(config, matrix))
    targets = [
        f"results/attempts/{attempt_id}/grades/{cell.row['grade']}/result.json"
        for cell in matrix.cells
        for attempt_id in planned_by(cell.row)
    ]
    if INVOCATION not in os.environ:  # not again in each job of a cluster
        os.environ[INVOCATION] = f"{os.getpid()}-{os.urandom(4).hex()}"
        found = torn.torn(targets)
        if found:
            print(f"fairtrial: {torn.line(found)}", file=sys.stderr)  # noqa: T201
    return Plan(config.settings["name"], matrix, targets, config)


def stage_settings(config: configuration.Config, matrix: Matrix) -> dict[str, Any]:
    """What a stage command needs of the configuration; small and ready, so that it imports no YAML and no schema."""
    keys = ("name", "spend", "faults", "capture", "slots")
    free = sorted({f"{row['harness']}/{row['model']}" for row in matrix.record["cells"] if row["free"]})
    wanted = ("auth", "key_env", "key_file", "login_files", "isolate")
    access = {
        name: {key: config.harnesses[name][key] for key in wanted if key in config.harnesses[name]}
        for name in config.settings["harnesses"]
    }
    prices = {
        name: config.models[name]["price"] for name in config.settings["models"] if config.models[name].get("price")
    }
    return {**{key: config.settings[key] for key in keys}, "free": free, "access": access, "prices": prices}


def current(environment: Mapping[str, str] | None = None) -> tuple[configuration.Config, Path] | None:
    """The configuration the Snakefile put into the environment of a stage command, and its checkout; None by hand."""
    text = (environment or os.environ).get(VARIABLE)
    if not text:
        return None
    given = json.loads(text)
    basedir = Path(given["basedir"])
    return configuration.load(given["raw"], basedir, Path.cwd()), basedir


def command(python: str) -> str:
    """How rules start fairtrial: with the Python that runs Snakemake, quoted for the shell and for str.format."""
    return shlex.quote(python).replace("{", "{{").replace("}", "}}") + " -m fairtrial"


def repetition_major(wildcards: Any) -> int:
    """Priority of an attempt: all first repetitions before any second one."""
    return -int(wildcards.repetition)
