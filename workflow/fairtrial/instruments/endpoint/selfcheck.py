"""An endpoint that stands on its own for a moment: for `fairtrial doctor`."""

from __future__ import annotations

import contextlib
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fairtrial.instruments.endpoint.caps import Caps
from fairtrial.instruments.endpoint.journal import Journal
from fairtrial.instruments.endpoint.server import Server
from fairtrial.instruments.endpoint.service import Service


@contextlib.contextmanager
def serving() -> Iterator[int]:
    """The loopback port of an endpoint without a provider or a model behind it. Raises Fault('endpoint')."""
    with tempfile.TemporaryDirectory(prefix="ft-endpoint-") as folder:
        journal = Journal(Path(folder) / "requests.jsonl", simulated=True)

        def make() -> Service:
            service = Service(journal, Caps(None, None, None, None), None, None)
            service.ready.set()
            return service

        server = Server(make)
        try:
            server.begin()
            listener = socket.create_server(("127.0.0.1", 0))
            server.listen(listener)
            yield int(listener.getsockname()[1])
        finally:
            server.end()
            journal.finish()
