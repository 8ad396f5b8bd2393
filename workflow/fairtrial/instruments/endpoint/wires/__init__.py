"""The protocols an endpoint speaks. Each module has NAME, asked, said, events, whole, refusal and count."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from fairtrial.instruments.endpoint.turn import Answer, Asked, Json, Said
from fairtrial.instruments.endpoint.wires import anthropic, chat, gemini, responses


class Wire(Protocol):
    """One protocol."""

    NAME: str
    HOST: str  # where the provider that made it answers

    def asked(self, path: str, body: Json) -> Asked:
        """What a request asks for; never raises on any object."""

    def said(self, objects: list[Json]) -> Said:
        """What an answer tells, from the JSON objects of its stream, or the one of a whole answer."""

    def events(self, answer: Answer) -> list[bytes]:
        """A streamed answer, event by event."""

    def whole(self, answer: Answer) -> Json:
        """The same answer in one piece."""

    def refusal(self, status: int, message: str) -> Json:
        """An error as this provider words it."""

    def count(self, tokens: int) -> Json:
        """The answer to a request that only counts tokens."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where an allowed request goes. kind: generate, count or other (a greeting, the list of models)."""

    wire: Wire
    kind: str


_GEMINI = r"/v1(?:beta|alpha)?/models/[A-Za-z0-9._:@%/-]{1,200}"
_ROUTES: tuple[tuple[str, re.Pattern[str], Route], ...] = tuple(
    (method, re.compile(pattern), Route(wire, kind))
    for method, pattern, wire, kind in (
        ("POST", r"/v1/messages", anthropic, "generate"),
        ("POST", r"/v1/messages/count_tokens", anthropic, "count"),
        ("POST", r"/v1/responses", responses, "generate"),
        ("POST", r"/v1/chat/completions", chat, "generate"),
        ("POST", _GEMINI + r":(?:stream)?[gG]enerateContent", gemini, "generate"),
        ("POST", _GEMINI + r":countTokens", gemini, "count"),
        ("HEAD", r"/", anthropic, "other"),
        ("GET", r"/v1/models(?:/[A-Za-z0-9._:/-]{1,200})?", chat, "other"),
    )
)


def route(method: str, path: str) -> Route | None:
    """Where a request goes; None for a path that is not on the list."""
    if ".." in path:
        return None  # the provider would read it as another path
    return next((to for verb, pattern, to in _ROUTES if verb == method and pattern.fullmatch(path)), None)
