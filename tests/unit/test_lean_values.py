"""contracts/lean.py makes what dataclasses makes."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from fairtrial.contracts import lean
from hypothesis import given
from hypothesis import strategies as st


@lean.lean(frozen=True)
class Frozen:
    first: Any
    second: Any = 2
    third: list[int] = lean.field(default_factory=list)


@lean.lean
class Plain:
    first: Any
    second: Any = 2
    third: list[int] = lean.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class FrozenModel:
    first: Any
    second: Any = 2
    third: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class PlainModel:
    first: Any
    second: Any = 2
    third: list[int] = dataclasses.field(default_factory=list)


NAMES = st.sampled_from(["first", "second", "third", "fourth"])
CALLS = st.tuples(st.lists(st.integers(), max_size=4), st.dictionaries(NAMES, st.integers()))


def made(cls: type, call: tuple[list[int], dict[str, int]]) -> dict[str, Any] | None:
    """Field -> value of the object a call makes, None for a TypeError."""
    try:
        one = cls(*call[0], **call[1])
    except TypeError:
        return None
    return {name: getattr(one, name) for name in ("first", "second", "third")}


@given(CALLS)
def test_every_call_is_taken_or_refused_as_a_dataclass_does(call: tuple[list[int], dict[str, int]]) -> None:
    """By place, by name, left out, too many, twice, unknown: the same values or the same TypeError."""
    assert made(Frozen, call) == made(FrozenModel, call)
    assert made(Plain, call) == made(PlainModel, call)


@given(st.integers(0, 1), st.integers(0, 1))
def test_equality_and_hash_follow_the_values(one: int, other: int) -> None:
    """Equal where the fields are, hashable when frozen and only then, never equal to another class."""
    assert (Frozen(one, third=()) == Frozen(other, third=())) == (one == other)  # type: ignore[arg-type]
    assert len({Frozen(one, third=()), Frozen(one, third=())}) == 1  # type: ignore[arg-type]
    assert Frozen(one) != Plain(one)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Plain(one))


def test_a_frozen_one_cannot_be_changed() -> None:
    """Neither set nor deleted; a plain one can be."""
    one = Frozen(1)
    with pytest.raises(AttributeError, match="frozen"):
        one.first = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        del one.first
    plain = Plain(1)
    plain.first = 2
    assert plain.first == 2


def test_it_is_shown_copied_and_listed_as_a_dataclass_is() -> None:
    """repr, replace and asdict; every object has a list of its own."""
    one, model = Frozen(1), FrozenModel(1)
    assert repr(one) == repr(model).replace("FrozenModel", "Frozen")
    assert lean.as_dict(lean.replaced(one, second=5)) == dataclasses.asdict(dataclasses.replace(model, second=5))
    assert one.third is not Frozen(1).third
