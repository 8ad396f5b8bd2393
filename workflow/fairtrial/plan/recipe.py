"""Identity: the recipe of an attempt and the specification of its grade, as records and digests."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any

from fairtrial import registry
from fairtrial.contracts.lean import lean
from fairtrial.contracts.numbers import GRADER, SANDBOX
from fairtrial.plan.config import Config, adapter_of, reader_of
from fairtrial.plan.files import CORRECTION, Manifest, manifest, one_file, text_digest
from fairtrial.plan.tasks import Task


@lean(frozen=True)
class HashedTask:
    """A task with the manifests of its folders, each read once."""

    task: Task

    def folder(self, name: str) -> Path:
        """A folder of the package."""
        return self.task.folder / name

    @cached_property
    def workspace(self) -> Manifest:
        """Files the agent starts with."""
        return manifest(self.folder("workspace"))

    @cached_property
    def script(self) -> str | None:
        """sha256 of workspace.sh, which builds a repository."""
        path = self.folder("workspace.sh")
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None

    @cached_property
    def acceptance(self) -> Manifest:
        """Tests the agent may see and run."""
        return manifest(self.folder("acceptance"))

    @cached_property
    def verifier(self) -> Manifest:
        """The hidden verifier."""
        return manifest(self.folder("verifier"))

    @cached_property
    def solution(self) -> Manifest:
        """The reference solution."""
        return manifest(self.folder("solution"))

    @cached_property
    def correction(self) -> str | None:
        """sha256 of a corrected verdict, where one was published."""
        path = self.folder(CORRECTION)
        return str(one_file(path, CORRECTION)["sha256"]) if path.is_file() else None


@lean(frozen=True)
class Arm:
    """harness x toolset x adoption x model, with the entries behind the names."""

    harness: str
    toolset: str
    adoption: str
    model: str

    def entry(self, config: Config) -> dict[str, Any]:
        """The harness's entry in harnesses.yaml."""
        return config.harnesses[self.harness]

    def network(self, config: Config) -> str:
        """The network the agent gets."""
        wanted: str = config.settings["network"]
        if wanted == "auto":
            wanted = self.entry(config).get("network") or adapter_of(self.entry(config)).NETWORK
        return wanted

    def rehearsal(self, config: Config) -> bool:
        """Is the model played by the loopback endpoint?"""
        return bool(config.models[self.model].get("rehearsal", False))

    def free(self, config: Config) -> bool:
        """Costs nothing: by the adapter, by the entries, or because the endpoint plays the model."""
        entry, model = self.entry(config), config.models[self.model]
        played = self.rehearsal(config) and self.network(config) == "endpoint"
        return bool(adapter_of(entry).FREE or entry.get("free") or model.get("free") or played)

    def simulated(self, config: Config) -> bool:
        """No real model answers."""
        return bool(adapter_of(self.entry(config)).SIMULATED or self.rehearsal(config))


def budget(task: Task, config: Config) -> dict[str, Any]:
    """Seconds, turns, US dollars, tokens; the config's override the task's."""
    own = {key: task.settings[key] for key in ("wall_seconds", "turns", "usd", "tokens")}
    return {**own, **config.settings["budget"]}


def recipe(hashed: HashedTask, arm: Arm, config: Config) -> dict[str, Any]:
    """Everything declared that can change the outcome of an attempt (schemas/recipe.schema.json)."""
    task, entry, model = hashed.task, arm.entry(config), config.models[arm.model]
    launch = adapter_of(entry)
    toolset = registry.load("fairtrial.toolsets", arm.toolset, "toolset")
    network = arm.network(config)
    played = arm.rehearsal(config)
    capped_by_endpoint = network == "endpoint" and "usd" not in launch.CAPS
    return {
        "schema_version": 1,
        "suite": task.suite,
        "task": task.id,
        "prompt_sha256": text_digest(task.prompt),
        "workspace": hashed.workspace,
        "workspace_script": hashed.script,
        "acceptance": hashed.acceptance,
        "protected": task.settings["protected"],
        "requires": task.settings["requires"],
        "toolset": {
            "name": arm.toolset,
            "protocol": toolset.PROTOCOL,
            "skills": manifest(Path(str(toolset.__file__)).parent / "skills"),
        },
        "adoption": arm.adoption,
        "harness": _harness(arm.harness, entry, launch.PROTOCOL),
        "model": _model(arm.model, model),
        "budget": budget(task, config),
        "isolation": {"policy": config.settings["isolation"], "network": network, "protocol": SANDBOX},
        "instruments": {
            "trace": list(dict.fromkeys([*config.settings["trace"], *toolset.BINARIES, "git"])),  # a policy needs them
            "snapshot_ignore": task.settings["snapshot_ignore"],
        },
        "seed": config.settings["seed"] if arm.simulated(config) else None,
        "solution": hashed.solution if launch.NEEDS_SOLUTION or played else None,
        "price": model.get("price") if capped_by_endpoint else None,
    }


def _harness(name: str, entry: dict[str, Any], protocol: int) -> dict[str, Any]:
    return {
        "name": name,
        "adapter": entry["adapter"],
        "protocol": protocol,
        "version": entry.get("version"),
        "options": entry.get("options", {}),
        "option_files": {},
        "auth": entry.get("auth", "none"),
        "isolate": entry.get("isolate", True),
    }


def _model(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    said = {key: entry.get(key) for key in ("provider", "wire", "base_url")}
    played = bool(entry.get("rehearsal", False))
    return {"name": name, "id": entry["id"], **said, "rehearsal": played, "options": entry.get("options", {})}


def asked_by(hashed: HashedTask) -> dict[str, Any]:
    """What the judge is told of a task package, whoever asks it."""
    settings = hashed.task.settings
    return {
        "suite": hashed.task.suite,
        "task": hashed.task.id,
        "workspace_script": hashed.script,
        "protected": settings["protected"],
        "requires": settings["requires"],
        "check": settings["check"],
        "check_seconds": settings["check_seconds"],
        "verifier_settings": {key: settings["verifier"][key] for key in ("command", "format", "seconds", "checks")},
        "corrections": hashed.correction,
    }


def gradespec(hashed: HashedTask, arm: Arm, config: Config) -> dict[str, Any]:
    """Everything that can change a verdict (schemas/gradespec.schema.json)."""
    adapter = arm.entry(config)["adapter"]
    return {
        "schema_version": 1,
        **asked_by(hashed),
        "verifier": hashed.verifier,
        "solution": hashed.solution,
        "acceptance": hashed.acceptance,
        "workspace": hashed.workspace,
        "grader": GRADER,
        "parser": reader_of(adapter).PARSER,
        "adapter": adapter,
        "toolset": arm.toolset,
    }
