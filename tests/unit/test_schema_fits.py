"""contracts/fits.py says yes to nothing that jsonschema finds wrong, and to everything fairtrial writes."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.fits import fits
from fairtrial.contracts.records import confirm
from fairtrial.contracts.schema import problems, schema, schema_folder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import fabricate
from tests.lab import CHECKOUT

NAMES = sorted(
    str(path.relative_to(schema_folder())).removesuffix(".schema.json")
    for path in schema_folder().rglob("*.schema.json")
)
ATTEMPT = "*/*/*/*/*/r*"
WRITTEN = {
    "evidence": f"attempts/{ATTEMPT}/evidence.json",
    "result": f"attempts/{ATTEMPT}/grades/*/result.json",
    "events": f"attempts/{ATTEMPT}/grades/*/agent-events.json",
    "exclude": f"attempts/{ATTEMPT}/exclude.json",
    "fault": f"faults/{ATTEMPT}/*/fault.json",
    "redo": f"redone/{ATTEMPT}/*/redo.json",
}
# What mutations are made of: values near the edges of our keywords, and of Python's own ideas of equality.
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.floats(), st.sampled_from([1.0, 0.0, 10**30]), st.text(max_size=3),
    st.sampled_from(["", "a" * 300, "2026-01-01\n", "f" * 64, "f" * 64 + "\n", "2026-01-05T09:12:00.000Z", "none"]),
    st.sampled_from([[], {}, [[]], [1, 1], ["a", "a"], {"a": 1}, {"": None}]),
)  # fmt: skip


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Any]]:
    """(schema, valid record): what fairtrial writes, and what people write."""
    root = tmp_path_factory.mktemp("made") / "results"
    every = fabricate.Settings(faults=0.1, missing=0.05, excluded=0.1, unscored=0.05, redone=0.1)
    found: list[tuple[str, Any]] = [("matrix", fabricate.tree(root, tasks=3, repetitions=4, settings=every))]
    for name, pattern in WRITTEN.items():
        found += [(name, json.loads(path.read_bytes())) for path in sorted(root.glob(pattern))[:3]]
    for name in ("config", "harnesses", "models"):
        found.append((name, yaml.safe_load((CHECKOUT / "config" / f"{name}.yaml").read_text())))
    for path in sorted(CHECKOUT.glob("tasks/*/*/task.toml"))[:10]:
        found.append(("task", tomllib.loads(path.read_text())))
    assert len({name for name, _ in found}) == 11
    return found


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of everything inside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in list(inner):
        yield value, key
        yield from places(one)


def mutated(record: Any, draw: Any) -> Any:
    """One to three values replaced, taken away or added, anywhere."""
    changed = copy.deepcopy(record)
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(changed))
        if not found:
            break
        container, key = draw(st.sampled_from(found))
        how = draw(st.sampled_from(["replace", "remove", "add"]))
        if how == "replace":
            container[key] = copy.deepcopy(draw(VALUES))
        elif how == "remove":
            del container[key]
        elif isinstance(container, dict):
            container[draw(st.text(max_size=3))] = copy.deepcopy(draw(VALUES))
        else:
            container.append(copy.deepcopy(draw(VALUES)))
    return changed


def test_what_fairtrial_writes_fits(records: list[tuple[str, Any]]) -> None:
    """Evidence, results and the rest are vouched for, so that no grade imports jsonschema for a good record."""
    for name, record in records:
        assert problems(record, name) == []
        assert name in ("config", "matrix", "models", "harnesses", "task") or fits(record, name), name


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_it_never_vouches_for_what_jsonschema_finds_wrong(records: list[tuple[str, Any]], data: Any) -> None:
    """Valid records with values replaced, removed and added."""
    name, record = data.draw(st.sampled_from(records))
    changed = mutated(record, data.draw)
    if fits(changed, name):
        assert problems(changed, name) == []


def subschemas(rules: Any) -> Iterator[dict[str, Any]]:
    """Every schema in a schema file."""
    if isinstance(rules, dict):
        if not rules.keys() <= {"properties", "patternProperties", "$defs"}:
            yield rules
        for one in rules.values():
            yield from subschemas(one)
    elif isinstance(rules, list):
        for one in rules:
            yield from subschemas(one)


@settings(max_examples=300, deadline=None)
@given(
    name=st.sampled_from(NAMES), value=st.recursive(VALUES, lambda inner: st.dictionaries(st.text(max_size=2), inner))
)
def test_it_agrees_on_any_value_of_any_schema(name: str, value: Any) -> None:
    """Every schema file, values that have little to do with it."""
    if fits(value, name):
        assert problems(value, name) == []


def test_the_keywords_of_results_are_known() -> None:
    """A keyword that is new in the schemas of evidence and results has to be taught, or every grade pays 50 ms."""
    from fairtrial.contracts import fits as module

    known = {*module._RULES, *module._SAYS_NOTHING}
    for name in ("evidence", "result", *(n for n in NAMES if n.startswith("result/"))):
        used = {key for rules in subschemas(schema(name)) for key in rules if isinstance(rules.get("type"), str | list)}
        assert used <= known, name


def test_a_wrong_record_is_worded_by_jsonschema(records: list[tuple[str, Any]]) -> None:
    """confirm raises what validate raises."""
    name, record = next(pair for pair in records if pair[0] == "evidence")
    wrong = {**record, "ending": "sideways", "extra": 1}
    with pytest.raises(UserError, match=r"here: ending: 'sideways' is not one of .*") as caught:
        confirm(wrong, name, "here")
    assert "extra" in str(caught.value)
