"""The endpoint's thread: an event loop of its own, outside the box, on a socket that listens inside it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from fairtrial.contracts.errors import Fault
from fairtrial.instruments.endpoint.service import Service

_BODY = 64 << 20  # bytes of one request
_WAIT = 20.0  # seconds for the thread to start, to listen, to end; a loaded machine is slow


class Server:
    """`begin`, `listen`, `end`, from the attempt's thread."""

    def __init__(
        self, make: Callable[[], Service], closing: Callable[[], Coroutine[Any, Any, None]] | None = None
    ) -> None:
        """`make` and `closing` are called in the loop."""
        self._make, self._closing = make, closing
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, name="endpoint", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._over = False
        self._runner: Any = None
        self._listening: asyncio.Server | None = None
        self._problem: BaseException | None = None
        self.service: Service | None = None

    def begin(self) -> None:
        """Start the thread, with the HTTP library loaded before any clock runs. Raises Fault('endpoint')."""
        self._thread.start()
        if not self._begun.wait(_WAIT) or self._problem is not None or self.service is None:
            raise Fault("endpoint", f"the endpoint does not start: {self._problem or 'no answer'}")

    def listen(self, listener: socket.socket) -> None:
        """Answer on a listening socket. Raises Fault('endpoint')."""
        try:
            self._call(self._serve(listener))
        except Exception as problem:
            raise Fault("endpoint", f"the endpoint cannot listen: {problem}") from problem

    def tell(self, action: Callable[[Service], None]) -> None:
        """Do something to the service in its own loop, soon."""
        if self._loop is not None and self.service is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(action, self.service)

    def end(self) -> None:
        """Stop answering; requests that are still going on are cut off. Safe at any time."""
        self._over = True  # also for a thread that is still on its way to `_stop`
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread.ident is not None:
            self._thread.join(_WAIT)

    def _call(self, work: Coroutine[Any, Any, None]) -> None:
        if self._loop is None:
            raise RuntimeError("it was not started")
        asyncio.run_coroutine_threadsafe(work, self._loop).result(_WAIT)

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as problem:
            self._problem = problem
        finally:
            self._begun.set()

    async def _live(self) -> None:
        from aiohttp import web

        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        if self._over:
            self._stop.set()
        service = self._make()
        service.refuse_connections = self._close_listener
        app = web.Application(client_max_size=_BODY)
        app.router.add_route("*", "/{path:.*}", service.handle)
        quiet = logging.getLogger("fairtrial.endpoint")  # a planned fault is no news; a real one ends the attempt
        quiet.disabled = True
        self._runner = web.AppRunner(
            app,
            access_log=None,
            logger=quiet,
            handler_cancellation=True,
            keepalive_timeout=3600.0,
            shutdown_timeout=0.2,
        )
        await self._runner.setup()
        self.service = service
        self._begun.set()
        try:
            await self._stop.wait()
        finally:
            self._close_listener()
            await self._runner.cleanup()
            if self._closing is not None:
                await self._closing()

    async def _serve(self, listener: socket.socket) -> None:
        listener.setblocking(False)
        self._listening = await asyncio.get_running_loop().create_server(
            self._runner.server, sock=listener, backlog=128
        )

    def _close_listener(self) -> None:
        if self._listening is not None:
            self._listening.close()
            self._listening = None
