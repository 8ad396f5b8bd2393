"""One request to a model and its answer, in the words all four protocols share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
CATEGORIES = ("input_uncached", "cache_read", "cache_write", "output", "reasoning")
Tokens = dict[str, int | None]


def no_tokens() -> Tokens:
    """Nothing was said."""
    return dict.fromkeys(CATEGORIES)


def number(value: Any) -> int | None:
    """A count as a provider may write it; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def mapping(value: Any) -> Json:
    """`value` when it is an object, else {}."""
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    """`value` when it is an array, else []."""
    return value if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a request offers. `free_form`: it takes text, not an object."""

    name: str
    properties: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    free_form: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for. calls_done: tool calls already in the posted conversation."""

    model: str | None = None
    stream: bool = False
    tools: tuple[Tool, ...] = ()
    calls_done: int = 0


@dataclass(slots=True)
class Said:
    """What an answer tells: the provider's own cost where it names one."""

    model: str | None = None
    tokens: Tokens = field(default_factory=no_tokens)
    cost_usd: float | None = None
    tool_calls: int | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """What the rehearsal model does next: a text, or one tool call with an object or (free-form) a text."""

    text: str = ""
    tool: str | None = None
    arguments: Json | str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A move with what belongs around it; `number` makes the ids of the answer its own."""

    move: Move
    model: str
    tokens: Mapping[str, int]
    number: int

    def id(self, prefix: str) -> str:
        """An id as this protocol writes it."""
        return f"{prefix}rehearsal{self.number:06d}"

    @property
    def all_input(self) -> int:
        """Input tokens for protocols that count cached ones in and know no cache writes."""
        return self.tokens["input_uncached"] + self.tokens["cache_read"]


def tool_of(raw: Json, schema: str) -> Tool | None:
    """A tool from {name, <schema>: JSON Schema}; None without a name."""
    name = raw.get("name")
    if not isinstance(name, str):
        return None
    about = mapping(raw.get(schema))
    needed = tuple(str(n) for n in listed(about.get("required")))
    return Tool(name, mapping(about.get("properties")), needed, free_form=raw.get("type") == "custom")


def tools_of(raws: Iterable[Any], schema: str) -> tuple[Tool, ...]:
    """The tools with a name, in their order."""
    found = (tool_of(mapping(raw), schema) for raw in raws)
    return tuple(tool for tool in found if tool is not None)
