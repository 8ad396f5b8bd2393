"""A quick yes for records that are as their schema says; jsonschema decides, and words, everything else.

Importing jsonschema takes 50 ms of CPU, more than a grade does itself, and a record that fairtrial wrote is valid all
but always. `fits` knows the keywords of our schemas, less than their whole meaning where that is simpler (an integer
is an int, not 1.0), and never says yes where jsonschema finds something; a keyword it does not know is a no.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from fairtrial.contracts.schema import schema

Json = dict[str, Any]
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip
_JSON = frozenset(kind for kinds in _TYPES.values() for kind in kinds)
_NUMBER, _TEXT, _LIST, _OBJECT = frozenset({int, float}), frozenset({str}), frozenset({list}), frozenset({dict})


def fits(record: object, name: str) -> bool:
    """True when `record` is surely valid by the schema `name`, such as 'evidence' or 'result/effort'."""
    return _fits(record, schema(name), name)


def _fits(value: Any, rules: Json | bool, name: str) -> bool:
    if isinstance(rules, bool) or type(value) not in _JSON:
        return rules is True
    for keyword, said in rules.items():
        if keyword in _SAYS_NOTHING:
            continue
        known = _RULES.get(keyword)
        if known is None:
            return False
        kinds, holds = known
        if (kinds is None or type(value) in kinds) and not holds(value, said, rules, name):
            return False
    return True


def _type(value: Any, said: Any, _: Json, __: str) -> bool:
    return any(type(value) in _TYPES[one] for one in ([said] if isinstance(said, str) else said))


def _one_of_these(value: Any, said: Any, _: Json, __: str) -> bool:
    return any(type(one) is type(value) and one == value for one in said if not isinstance(one, dict | list))


def _properties(value: Any, said: Any, _: Json, name: str) -> bool:
    return all(_fits(value[key], rules, name) for key, rules in said.items() if key in value)


def _additional(value: Any, said: Any, rules: Json, name: str) -> bool:
    named, patterns = rules.get("properties", {}), rules.get("patternProperties", {})
    rest = (key for key in value if key not in named and not any(re.search(pattern, key) for pattern in patterns))
    return all(_fits(value[key], said, name) for key in rest)


def _patterned(value: Any, said: Any, _: Json, name: str) -> bool:
    return all(
        _fits(inner, rules, name) for pattern, rules in said.items() for key, inner in value.items()
        if re.search(pattern, key)
    )  # fmt: skip


def _reference(value: Any, said: Any, _: Json, name: str) -> bool:
    return _fits(value, *_target(said, name))


@cache
def _target(reference: str, name: str) -> tuple[Json, str]:
    """The schema behind `$ref`, and the name of the file it stands in."""
    file, _, pointer = reference.partition("#")
    name = file.rsplit("fairtrial/", 1)[-1] or name
    found = schema(name)
    for part in pointer.split("/")[1:]:
        found = found[part]
    return found, name


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """As JSON Schema has it: `$` is the very end, while Python's also stands before a last newline."""
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern)


def _search(pattern: str, text: str) -> bool:
    return _compiled(pattern).search(text) is not None


_Rule = tuple[frozenset[type] | None, Callable[[Any, Any, Json, str], bool]]
_SAYS_NOTHING = frozenset({"$schema", "$id", "$defs", "title", "description", "default"})
# Keyword -> the types it says something of (None: all), and whether it holds.
_RULES: dict[str, _Rule] = {
    "type": (None, _type),
    "enum": (None, _one_of_these),
    "const": (None, lambda value, said, rules, name: _one_of_these(value, [said], rules, name)),
    "anyOf": (None, lambda value, said, _, name: any(_fits(value, one, name) for one in said)),
    "$ref": (None, _reference),
    "minimum": (_NUMBER, lambda value, said, *_: value >= said),
    "maximum": (_NUMBER, lambda value, said, *_: value <= said),
    "exclusiveMinimum": (_NUMBER, lambda value, said, *_: value > said),
    "pattern": (_TEXT, lambda value, said, *_: _search(said, value)),
    "minLength": (_TEXT, lambda value, said, *_: len(value) >= said),
    "maxLength": (_TEXT, lambda value, said, *_: len(value) <= said),
    "minItems": (_LIST, lambda value, said, *_: len(value) >= said),
    "items": (_LIST, lambda value, said, _, name: all(_fits(one, said, name) for one in value)),
    "required": (_OBJECT, lambda value, said, *_: all(key in value for key in said)),
    "properties": (_OBJECT, _properties),
    "patternProperties": (_OBJECT, _patterned),
    "additionalProperties": (_OBJECT, _additional),
    "propertyNames": (_OBJECT, lambda value, said, _, name: all(_fits(key, said, name) for key in value)),
    "minProperties": (_OBJECT, lambda value, said, *_: len(value) >= said),
}
