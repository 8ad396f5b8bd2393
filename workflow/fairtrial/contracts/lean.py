"""Classes that only hold named values: what `dataclasses` makes, without writing and compiling source text for each.

A stage command defines some fifty of them before an agent starts. `dataclass(frozen=True)` takes 1 ms for one, and
importing it, with `inspect` and `ast`, 7 ms more; `lean` takes 0.01 ms. What runs once an experiment may use either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


class _Fresh:
    """The default of a field that every object gets its own of."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def field(*, default_factory: Callable[[], T]) -> T:
    """A default that is made anew for every object, such as a list."""
    return _Fresh(default_factory)  # type: ignore[return-value]


@overload
def lean(made: type[T], /) -> type[T]: ...


@overload
def lean(*, frozen: bool = False) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(field_specifiers=(field,))
def lean(made: type[T] | None = None, /, *, frozen: bool = False) -> Any:
    """Give a class with annotated fields `__init__`, `__eq__`, `__repr__` and, frozen, `__hash__`; no inheritance."""
    if made is None:
        return lambda found: _equip(found, frozen)
    return _equip(made, frozen)


def replaced(one: T, **changes: Any) -> T:
    """A copy with other values in some fields."""
    return type(one)(**{**as_dict(one), **changes})


def as_dict(one: Any) -> dict[str, Any]:
    """Field -> value, in the order of the class."""
    return {name: getattr(one, name) for name in one.__lean_fields__}


def _equip(made: type[T], frozen: bool) -> type[T]:
    cls: Any = made
    names = cls.__lean_fields__ = tuple(cls.__annotations__)
    defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
    factories = {name: defaults.pop(name).make for name in list(defaults) if isinstance(defaults[name], _Fresh)}
    for name in factories:
        delattr(cls, name)
    cls.__init__ = _initialiser(names, defaults, factories)
    cls.__eq__, cls.__repr__ = _equal, _shown
    cls.__hash__ = _hashed if frozen else None
    if frozen:
        cls.__setattr__ = cls.__delattr__ = _refuse
    return made


def _initialiser(
    names: tuple[str, ...], defaults: dict[str, Any], factories: dict[str, Callable[[], Any]]
) -> Callable[..., None]:
    known = frozenset(names)

    def initialise(self: Any, *given: Any, **named: Any) -> None:
        values = self.__dict__
        values.update(defaults)
        values.update(zip(names, given, strict=False))
        values.update(named)
        for name, make in factories.items():
            if name not in values:
                values[name] = make()
        if values.keys() != known or len(given) > len(names) or not named.keys().isdisjoint(names[: len(given)]):
            raise TypeError(_complaint(type(self).__name__, names, given, named, values))

    return initialise


def _complaint(
    cls: str, names: tuple[str, ...], given: tuple[Any, ...], named: dict[str, Any], values: dict[str, Any]
) -> str:
    missing = [name for name in names if name not in values]
    unknown = [name for name in named if name not in names]
    twice = [name for name in names[: len(given)] if name in named]
    return f"{cls}: missing {missing}, unknown {unknown}, given twice {twice}, {len(given)} of {len(names)} by place"


def _values(one: Any) -> tuple[Any, ...]:
    return tuple(getattr(one, name) for name in one.__lean_fields__)


def _equal(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hashed(self: Any) -> int:
    return hash(_values(self))


def _shown(self: Any) -> str:
    inner = ", ".join(f"{name}={value!r}" for name, value in as_dict(self).items())
    return f"{type(self).__qualname__}({inner})"


def _refuse(self: Any, name: str, *_: object) -> None:
    raise AttributeError(f"{type(self).__name__}.{name} is frozen")
