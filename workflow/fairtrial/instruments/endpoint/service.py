"""One request from its first byte to its line in requests.jsonl. Lives in the endpoint's own event loop."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from fairtrial.instruments.endpoint import callers, sse, waiting
from fairtrial.instruments.endpoint.caps import Caps
from fairtrial.instruments.endpoint.journal import Journal
from fairtrial.instruments.endpoint.rehearsal import Rehearsal
from fairtrial.instruments.endpoint.turn import Asked, Json, Said, mapping
from fairtrial.instruments.endpoint.wires import Route, route

if TYPE_CHECKING:
    from aiohttp import web

    from fairtrial.instruments.endpoint.forward import Forwarder

_KEPT = 64 << 20  # bytes of one answer that are read for its usage
_PATIENCE = 10.0  # seconds a program may go on asking after a cap refused it, and
_ASKS = 5  # how often
_REASONS = {"turns": "turn_cap", "tokens": "token_cap", "usd": "usd_cap"}
_SAID = {
    400: "invalid request", 401: "invalid x-api-key: authentication failed", 402: "insufficient quota",
    403: "permission denied: api access", 404: "not found", 429: "rate limit reached: too many requests",
    500: "internal server error", 503: "service unavailable", 529: "overloaded",
}  # fmt: skip


class Cut(Exception):
    """The answer breaks off here."""


@dataclass(slots=True)
class Call:
    """One request being answered."""

    request: web.Request
    body: bytes
    route: Route | None
    row: Json
    number: int = 0  # of the model requests, from 1
    status: int | None = None
    received: bytearray = field(default_factory=bytearray)
    response_bytes: int = 0
    whole: bool = False
    read: Asked | None = None

    @property
    def asked(self) -> Asked:
        """The request, read when somebody wants to know: a long conversation takes milliseconds to read."""
        if self.read is None:
            generates = self.route is not None and self.route.kind == "generate"
            wire = self.route.wire if self.route and generates else None
            self.read = wire.asked(self.request.path, _object(self.body)) if wire else Asked()
        return self.read


class Service:
    """Answers requests: by a rehearsal model, or by a forwarder to the provider."""

    def __init__(self, journal: Journal, caps: Caps, model: Rehearsal | None, forwarder: Forwarder | None) -> None:
        self._journal, self._caps, self._model, self._forwarder = journal, caps, model, forwarder
        self._generated = 0
        self._callers: dict[Any, bool | None] = {}  # by connection, which stays the key as long as we look
        self._refused_at: list[tuple[float, str]] = []
        self.clock_ns = 0
        self.main = 0
        self.port = 0
        self.ready = asyncio.Event()  # the agent's main process is known
        self.refuse_connections: Callable[[], None] = self.ready.clear  # the server's, once it is there
        self.broken: str | None = None

    def stop_reason(self) -> str | None:
        """Why the agent should be ended: it does not take a cap's refusal, or the endpoint broke."""
        if self.broken:
            return f"endpoint: {self.broken}"
        told = self._refused_at
        if told and (len(told) >= _ASKS or time.monotonic() - told[0][0] > _PATIENCE):
            return _REASONS[told[0][1]]
        return None

    def cap_reached(self) -> str | None:
        """The first cap that refused a request, as endings name it."""
        return _REASONS[self._refused_at[0][1]] if self._refused_at else None

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Every request of the box comes here."""
        started = time.monotonic_ns()
        body = await request.read()
        await self.ready.wait()
        call = self._begin(request, body, started - self.clock_ns)
        try:
            return await self._answer(call)
        except Cut:
            call.status = None if call.response_bytes == 0 else call.status
            if request.transport is not None:
                request.transport.abort()
            raise ConnectionResetError from None
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception as problem:
            if call.row["main_process"] is not False:  # what another process sends may break its own answer only
                self.broken = f"{type(problem).__name__}: {problem}"
            raise
        finally:
            self._end(call)

    def _begin(self, request: web.Request, body: bytes, started_ns: int) -> Call:
        # Only what is written as it is meant: not http://elsewhere/v1/messages, not /v1/files/../messages.
        plain = unquote(request.raw_path.partition("?")[0]) == request.path
        to = route(request.method, request.path) if plain else None
        wire = to.wire.NAME if to and to.kind == "generate" else "other"
        row = self._journal.begin(wire=wire, path=request.path[:500], started_ns=started_ns, request_bytes=len(body))
        row["main_process"] = self._caller(request)
        return Call(request, body, to, row)

    def _caller(self, request: web.Request) -> bool | None:
        """Asked once a connection, while it is open."""
        peer = request.transport.get_extra_info("peername") if request.transport else None
        if not peer or not self.main:
            return None
        connection = request.transport
        if connection not in self._callers:
            self._callers[connection] = callers.from_main(self.main, peer[1], self.port)
        return self._callers[connection]

    async def _answer(self, call: Call) -> web.StreamResponse:
        to = call.route
        if to is None:
            return await self._error(call, 404, f"fairtrial: {call.request.method} {call.request.path} is not allowed")
        if to.kind == "generate":
            refused = self._caps.refuses(lambda: bool(call.asked.tools))
            if refused is not None:
                call.row["refused"] = refused[0]
                self._refused_at.append((time.monotonic(), refused[0]))
                return await self._error(call, 400, refused[1])
            self._generated += 1
            call.number = self._generated
        if self._model is not None:
            return await self._play(call, to, self._model)
        if self._forwarder is None:
            return await self._error(call, 502, "fairtrial: there is no provider behind this endpoint")
        return await self._forwarder.forward(self, call, to)

    async def _play(self, call: Call, to: Route, model: Rehearsal) -> web.StreamResponse:
        if to.kind != "generate":
            known = {"object": "list", "data": []}
            return await self.whole(call, 200, to.wire.count(len(call.body) // 4) if to.kind == "count" else known)
        fault = model.fault(call.number) or {}
        kind = fault.get("kind")
        if kind:
            call.row["fault"] = f"status {fault['status']}" if kind == "status" else kind
        if kind == "refused":
            self.refuse_connections()
            raise Cut
        await asyncio.sleep(model.seconds + fault.get("seconds", 0.0))
        if kind == "status":
            after = fault.get("retry_after")
            headers = {} if after is None else {"Retry-After": f"{after:g}"}
            message = fault.get("message") or _SAID.get(fault["status"], f"error {fault['status']}")
            return await self._error(call, fault["status"], message, headers)
        answer = model.answer(call.asked, call.body, call.number)
        if not call.asked.stream:
            return await self.whole(call, 200, to.wire.whole(answer), cut=kind == "cut")
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
        return await self.send(call, 200, headers, _pieces(to.wire.events(answer), cut=kind == "cut"))

    async def _error(
        self, call: Call, status: int, message: str, headers: dict[str, str] | None = None
    ) -> web.StreamResponse:
        from fairtrial.instruments.endpoint.wires import chat

        wire = call.route.wire if call.route else chat
        return await self.whole(call, status, wire.refusal(status, message), headers)

    async def whole(
        self, call: Call, status: int, content: Json, headers: dict[str, str] | None = None, *, cut: bool = False
    ) -> web.StreamResponse:
        """One JSON document."""
        data = json.dumps(content).encode()
        about = {"Content-Type": "application/json", "Content-Length": str(len(data)), **(headers or {})}
        half = len(data) // 2
        return await self.send(call, status, about, _pieces([data[:half], data[half:]], cut=cut))

    async def send(self, call: Call, status: int, headers: Any, pieces: AsyncIterator[bytes]) -> web.StreamResponse:
        """Pass an answer on as it comes, and keep what its usage is read from."""
        from aiohttp import web

        response = web.StreamResponse(status=status, headers=headers)
        call.status = status
        if status >= 400:
            call.row["retry_after_seconds"] = waiting.asked(headers)
        await response.prepare(call.request)
        async for piece in pieces:
            if call.row["first_byte_ns"] is None:
                call.row["first_byte_ns"] = time.monotonic_ns() - self.clock_ns
            call.response_bytes += len(piece)
            if len(call.received) < _KEPT:
                call.received += piece
            await response.write(piece)
        await response.write_eof()
        call.whole = True
        return response

    def _end(self, call: Call) -> None:
        row = call.row
        model = call.asked.model
        row["model_requested"] = model if isinstance(model, str) else None
        row["status"] = call.status
        row["response_bytes"] = call.response_bytes
        if call.whole:
            row["ended_ns"] = time.monotonic_ns() - self.clock_ns
        if call.route and call.route.kind == "generate" and call.status is not None and call.status < 300:
            said = _said(call)
            row["model_observed"], row["tokens"], row["tool_calls"] = said.model, said.tokens, said.tool_calls
            row["cost_usd"] = self._caps.count(call.asked, said, whole=call.whole)
        self._journal.write(row)


def _said(call: Call) -> Said:
    if call.route is None:
        return Said()
    said = call.route.wire.said(sse.objects(bytes(call.received)))
    said.model = said.model if isinstance(said.model, str) else None
    return said


def _object(body: bytes) -> Json:
    try:
        return mapping(json.loads(body))
    except (ValueError, RecursionError):
        return {}


async def _pieces(parts: list[bytes], *, cut: bool) -> AsyncIterator[bytes]:
    """The parts; with `cut` half of them, and then the connection breaks."""
    for part in parts[: len(parts) // 2] if cut else parts:
        yield part
    if cut:
        await asyncio.sleep(0.05)  # what was written leaves before the connection does
        raise Cut
