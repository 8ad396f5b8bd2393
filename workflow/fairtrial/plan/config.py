"""Configuration: read, checked against the schemas, defaults filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairtrial import registry
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import field, lean
from fairtrial.contracts.records import validate
from fairtrial.contracts.schema import data_folder, few, meant, misfits
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
FILES = {"harnesses": "config/harnesses.yaml", "models": "config/models.yaml"}
# What programs are told of a model; how hard it may think is checked against each program's own words (pairs.py).
MODEL_OPTIONS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "effort": {"type": "string", "minLength": 1},
        "context": {"type": "integer", "minimum": 1},
        "output": {"type": "integer", "minimum": 1},
    },
    "additionalProperties": False,
}


@lean(frozen=True)
class Config:
    """One experiment's settings, and the harnesses and models it may name."""

    settings: dict[str, Any]
    harnesses: dict[str, dict[str, Any]]
    models: dict[str, dict[str, Any]]
    tasks_dirs: list[Path]
    files: dict[str, str] = field(default_factory=lambda: dict(FILES))  # the ones in force, as messages name them


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
    files = {kind: settings[f"{kind}_file"] or shipped for kind, shipped in FILES.items()}
    _known(settings["harnesses"], harnesses, "harnesses", files)
    _known(settings["models"], models, "models", files)
    _check_slots(settings["slots"], harnesses, models)
    tasks = basedir / "tasks"
    folders = [tasks if tasks.is_dir() else data_folder("tasks"), *(cwd / d for d in settings["tasks_dirs"])]
    return Config(settings, harnesses, models, folders, files)


def _known(names: list[str], entries: dict[str, Any], key: str, files: dict[str, str]) -> None:
    for name in names:
        if name not in entries:
            raise UserError(
                f"config: {key}: unknown {key[:-1].removesuffix('e')} {name!r}{meant(name, entries)}; "
                f"known: {few(entries, f'`fairtrial list {key}`')} ({files[key]})"
            )


def _check_slots(slots: dict[str, int], harnesses: dict[str, Any], models: dict[str, dict[str, Any]]) -> None:
    providers = {str(entry["provider"]): None for entry in models.values() if entry.get("provider")}
    for name in slots:
        if name not in harnesses and name not in providers:
            raise UserError(
                f"config: slots: {name!r} is no harness and no provider{meant(name, [*harnesses, *providers])}; "
                f"harnesses: {few(harnesses, '`fairtrial list harnesses`')}; "
                f"providers: {', '.join(providers) or 'none'}"
            )


def _entries(given: str | None, kind: str, basedir: Path, cwd: Path) -> dict[str, dict[str, Any]]:
    path = cwd / given if given else basedir / "config" / f"{kind}.yaml"
    entries = read_yaml(path)
    validate(entries, kind, str(path))
    for name, entry in entries.items():
        where = f"{path}: {name}"
        if kind == "harnesses":
            _check_adapter(entry, name, where)
            _check_key(entry, where)
        elif entry.get("rehearsal"):
            check_rehearsal(entry.get("options", {}), where)
        elif found := misfits(entry.get("options", {}), MODEL_OPTIONS, "options"):
            raise UserError("\n".join(f"{where}: {line}" for line in found))
    return entries


def _check_key(entry: dict[str, Any], where: str) -> None:
    if entry.get("auth") == "key" and not entry.get("key_env"):
        also = "; key_file only says where its value is when the variable is not set" if entry.get("key_file") else ""
        raise UserError(f"{where}: auth: key needs key_env, the name of the variable that holds the key{also}")


def _check_adapter(entry: dict[str, Any], name: str, where: str) -> None:
    """It is there; where none is named it is the entry's own name."""
    said = "adapter" if "adapter" in entry else "no adapter is named (`adapter: command` starts any program)"
    try:
        registry.load("fairtrial.harnesses", entry.setdefault("adapter", name), what="adapter")
    except UserError as error:
        raise UserError(f"{where}: {said}: {error}") from None


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML mapping; UserError names the file and the place."""
    import yaml

    try:
        loaded = yaml.load(path.read_bytes(), Loader=_unique_loader(yaml))  # noqa: S506 (a SafeLoader)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not valid YAML: {_said(error)}") from None
    if not isinstance(loaded, dict):
        what = "is empty" if loaded is None else f"holds {'a list' if isinstance(loaded, list) else 'one value'}"
        raise UserError(f"{path}: {what}; must be a mapping, that is lines of `key: value`")
    return loaded


def _said(error: Exception) -> str:
    """What the parser says, in one line; it does not know the name of the file."""
    return " ".join(str(error).split()).replace(' in "<byte string>",', ":")


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
