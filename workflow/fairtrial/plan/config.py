"""Configuration: read, checked against the schemas, defaults filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairtrial import registry
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import lean
from fairtrial.contracts.records import validate
from fairtrial.contracts.schema import data_folder, meant
from fairtrial.instruments.endpoint.options import check as check_rehearsal

DEFAULTS: dict[str, Any] = {
    "name": "default",
    "tasks_dirs": [],
    "toolsets": ["git"],
    "adoption": ["warm"],
    "budget": {},
    "isolation": "auto",
    "network": "auto",
    "trace": ["git", "jj", "but", "python", "python3", "pytest", "node", "npm", "rg", "make", "cargo"],
    "capture": {"output_bytes": 50 << 20, "workspace_bytes": 2 << 30, "min_free_bytes": 1 << 30},
    "spend": {"allow": False, "max_usd": None, "per_attempt_usd": None},
    "faults": {"stop_after": 3, "retries": 0, "backoff_seconds": 10.0},
    "slots": {},
    "attempt_resources": {"cpus": 1, "mem_mb": 1000},
    "k": [1, 3],
    "seed": 0,
    "harnesses_file": None,
    "models_file": None,
}


@lean(frozen=True)
class Config:
    """One experiment's settings, and the harnesses and models it may name."""

    settings: dict[str, Any]
    harnesses: dict[str, dict[str, Any]]
    models: dict[str, dict[str, Any]]
    tasks_dirs: list[Path]


def load(
    raw: dict[str, Any], basedir: Path, cwd: Path, more_harnesses: dict[str, dict[str, Any]] | None = None
) -> Config:
    """Check `raw` (config.yaml with overrides) and the files it names; UserError lists what is wrong.

    basedir: the checkout, whose config/ and tasks/ are the default; cwd: what relative paths in `raw` are relative to.
    """
    validate(raw, "config", "config")
    settings = {**DEFAULTS, **raw}
    for key in ("capture", "spend", "faults", "attempt_resources"):
        settings[key] = {**DEFAULTS[key], **raw.get(key, {})}
    harnesses = {**_entries(settings["harnesses_file"], "harnesses", basedir, cwd), **(more_harnesses or {})}
    models = _entries(settings["models_file"], "models", basedir, cwd)
    _known(settings["harnesses"], harnesses, "harnesses")
    _known(settings["models"], models, "models")
    tasks = basedir / "tasks"
    folders = [tasks if tasks.is_dir() else data_folder("tasks"), *(cwd / d for d in settings["tasks_dirs"])]
    return Config(settings, harnesses, models, folders)


def _known(names: list[str], entries: dict[str, Any], key: str) -> None:
    for name in names:
        if name not in entries:
            raise UserError(
                f"config: {key}: unknown {key[:-1].removesuffix('e')} {name!r}{meant(name, entries)}; "
                f"known: {', '.join(entries)} (config/{key}.yaml)"
            )


def _entries(given: str | None, kind: str, basedir: Path, cwd: Path) -> dict[str, dict[str, Any]]:
    path = cwd / given if given else basedir / "config" / f"{kind}.yaml"
    entries = read_yaml(path)
    validate(entries, kind, str(path))
    for name, entry in entries.items():
        if kind == "harnesses":
            entry.setdefault("adapter", name)
            _check_adapter(entry, f"{path}: {name}")
        elif entry.get("rehearsal"):
            check_rehearsal(entry.get("options", {}), f"{path}: {name}")
    return entries


def _check_adapter(entry: dict[str, Any], where: str) -> None:
    try:
        registry.load("fairtrial.harnesses", entry["adapter"], what="adapter")
    except UserError as error:
        raise UserError(f"{where}: adapter: {error}") from None


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML mapping; UserError names the file and the place."""
    import yaml

    try:
        loaded = yaml.load(path.read_bytes(), Loader=_unique_loader(yaml))  # noqa: S506 (a SafeLoader)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(loaded, dict):
        raise UserError(f"{path}: must be a mapping")
    return loaded


def _rules(loader: Any) -> Any:
    return loader.yaml_implicit_resolvers.items()


def _unique_loader(yaml: Any) -> Any:
    """A safe loader that refuses a key given twice, which YAML would silently overwrite."""

    class Unique(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    def mapping(loader: Any, node: Any) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = loader.construct_object(key_node)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} is given twice", key_node.start_mark)
            seen.add(key)
        pairs: dict[Any, Any] = loader.construct_mapping(node, deep=True)
        return pairs

    Unique.add_constructor("tag:yaml.org,2002:map", mapping)
    plain = {sign: [rule for rule in rules if not rule[0].endswith(":timestamp")] for sign, rules in _rules(Unique)}
    Unique.yaml_implicit_resolvers = plain  # a day stays the text it was written as
    return Unique


def adapter_of(entry: dict[str, Any]) -> Any:
    """The launch module of a harness entry; its options are checked against the adapter's own schema."""
    return registry.load("fairtrial.harnesses", entry["adapter"], "launch", "adapter")


def reader_of(adapter: str) -> Any:
    """The transcript reader of an adapter."""
    return registry.load("fairtrial.harnesses", adapter, "events", "adapter")
