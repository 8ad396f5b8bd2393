"""Where the JSON Schemas are and how a record is checked against one."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jsonschema.protocols import Validator

_PACKAGE = Path(__file__).resolve().parent.parent
_BOUNDS = {
    "exclusiveMinimum": "more than",
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
}
_BARE = {"integer": r"-?\d+", "number": r"-?\d+(\.\d+)?", "boolean": "true|false"}  # what YAML reads as that kind
SHOWN = 12  # names of what is known, in one line


def data_folder(name: str) -> Path:
    """`schemas` or `tasks`: beside the package in a wheel, at the top of a checkout."""
    packed = _PACKAGE / "_data" / name
    return packed if packed.is_dir() else _PACKAGE.parent.parent / name


def schema_folder() -> Path:
    """The folder of the *.schema.json files."""
    return data_folder("schemas")


@cache
def schema(name: str) -> dict[str, Any]:
    """The parsed schema `name`, such as 'evidence' or 'result/effort'."""
    loaded: dict[str, Any] = json.loads((schema_folder() / f"{name}.schema.json").read_bytes())
    return loaded


@cache
def validator(name: str) -> Validator:
    """A cached validator (building one costs more than using it)."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT202012

    def fetch(uri: str) -> Resource[Any]:
        # a relative $ref is resolved against "fairtrial/result", so the folder stands in it twice
        return DRAFT202012.create_resource(schema(uri.rsplit("fairtrial/", 1)[-1]))

    registry: Registry[Any] = Registry(retrieve=fetch)  # type: ignore[call-arg]
    checks: Any = extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]
    found: Validator = checks(schema(name), registry=registry)
    return found


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[Any]:
    """As JSON Schema has it: `$` is the very end, while Python's also stands before a last newline."""
    from jsonschema import ValidationError

    exact = pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern
    if isinstance(instance, str) and not re.search(exact, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def blank(name: str) -> dict[str, Any]:
    """A record of `name` in which everything is null: what was not measured."""
    return dict.fromkeys(schema(name)["properties"])


def problems(record: Any, name: str) -> list[str]:
    """What is wrong with `record`, one readable line each; empty when it is valid."""
    return _lines(validator(name).iter_errors(record))


def misfits(value: Any, against: dict[str, Any], where: str) -> list[str]:
    """The same for a value that stands at `where` and a schema that is no file, such as an adapter's OPTIONS."""
    from jsonschema import Draft202012Validator

    return _lines(Draft202012Validator(against).iter_errors(value), where)


def _lines(errors: Iterable[Any], above: str = "") -> list[str]:
    found = sorted(errors, key=lambda e: list(map(str, e.absolute_path)))
    return [_line(error, ".".join([*filter(None, [above]), *map(str, error.absolute_path)])) for error in found]


def _line(error: Any, where: str) -> str:
    where = where or "(top level)"
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = sorted(error.schema.get("properties", {}))
        return f"{where}: unknown key {_unknown(error.instance, known)}; known keys: {', '.join(known)}"
    if error.validator == "required":
        return f"{where}: {error.message.replace(' is a required property', ' is missing')}"
    if error.validator == "enum":
        return f"{where}: {error.instance!r} is not one of {', '.join(map(repr, error.validator_value))}"
    if error.validator == "type":
        return f"{where}: {_short(error.instance)} is not of type {_types(error.validator_value)}{_written(error)}"
    if error.validator == "pattern":
        hint = error.schema.get("description", f"must match {error.validator_value}")
        return f"{where}: {_short(error.instance)} is not allowed; {hint}"
    return f"{where}: {_bound(error) or error.message}"


def _written(error: Any) -> str:
    """How a value of the wrong type is written right, where that is plain to see."""
    given, wanted = error.instance, _types(error.validator_value)
    if given is None:
        return "; give a value, or leave the key out"
    if not isinstance(given, str | int | float):
        return ""
    if wanted == "array":
        return f"; {given} lacks its last bracket" if str(given).startswith("[") else f"; a list is written [{given}]"
    bare = next((text for kind, text in _BARE.items() if kind in wanted), None)
    return f"; write {given} without quotes" if bare and re.fullmatch(bare, str(given)) else ""


def _bound(error: Any) -> str | None:
    """A number that is too small or too large, nothing where something must stand, or one thing twice: in words."""
    if error.validator == "uniqueItems":
        return f"{_short(error.instance)} has non-unique elements; name each once"
    if error.validator in ("minItems", "minLength") and not error.instance:
        return "must not be empty"
    word = _BOUNDS.get(error.validator)
    return word and f"{_short(error.instance)} is not allowed; must be {word} {error.validator_value}"


def _unknown(instance: dict[str, Any], known: Iterable[str]) -> str:
    return ", ".join(f"{key!r}{meant(key, known)}" for key in sorted(set(instance) - set(known)))


def meant(given: str, known: Iterable[str]) -> str:
    """Says " (did you mean 'x'?)" where one of the known names is close; else nothing."""
    import difflib

    close = difflib.get_close_matches(given, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def few(names: Iterable[str], all_of_them: str) -> str:
    """The first dozen names; of more how many there are and the command that lists `all_of_them`."""
    listed = list(names)
    more = f" and {len(listed) - SHOWN} more; {all_of_them}" if len(listed) > SHOWN else ""
    return ", ".join(listed[:SHOWN]) + more


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _types(value: object) -> str:
    return value if isinstance(value, str) else " or ".join(map(str, value))  # type: ignore[call-overload]
