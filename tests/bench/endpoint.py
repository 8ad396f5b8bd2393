"""Bench: what the meter adds to a model request, side by side with the same request sent directly."""

from __future__ import annotations

import http.client
import json
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.endpoint_rig import recipe, running
from tests.endpoint_wires import Anthropic

LIMITS = {"endpoint_added_p50_ms": 2.0}
_ROUNDS = 200
_WARM = 20


class _Provider(BaseHTTPRequestHandler):
    """Answers at once, so that all there is to see is the way."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        usage = {"input_tokens": 1000, "output_tokens": 50}
        data = json.dumps({"type": "message", "model": "m", "content": [{"type": "text", "text": "hello"}],
                           "usage": usage}).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Quiet."""


def _serve(back: Connection) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Provider)
    back.send(server.server_port)
    server.serve_forever()


def _once(connection: http.client.HTTPConnection, data: bytes) -> float:
    began = time.perf_counter()
    connection.request("POST", Anthropic.path, data, {"Content-Type": "application/json"})
    connection.getresponse().read()
    return (time.perf_counter() - began) * 1e3


def _ask(back: Connection, ports: dict[str, int], data: bytes) -> None:
    """The agent program's part: the two ways take turns, so both see the same machine."""
    open_ = {way: http.client.HTTPConnection("127.0.0.1", port) for way, port in ports.items()}
    took: dict[str, list[float]] = {way: [] for way in ports}
    for _ in range(_ROUNDS + _WARM):
        for way, connection in open_.items():
            took[way].append(_once(connection, data))
    for connection in open_.values():
        connection.close()
    back.send({way: sorted(times[_WARM:]) for way, times in took.items()})


def _apart(work: Callable[..., None], *given: Any) -> tuple[Any, Any]:
    """A process of its own for `work`, and what it sends first: program and provider share no interpreter with us."""
    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    process = context.Process(target=work, args=(far, *given), daemon=True)
    process.start()
    return process, near.recv()


def measure() -> dict[str, float]:
    """Median and 95th percentile in ms of a request of 80 kB and a short answer, direct and through the meter."""
    body = Anthropic.body(0, stream=False)
    body["messages"][0]["content"] = "x" * 80_000
    provider, upstream = _apart(_serve)
    try:
        with (
            tempfile.TemporaryDirectory() as name,
            running(Path(name), recipe(rehearsal=False, base_url=f"http://127.0.0.1:{upstream}")) as rig,
        ):
            client, took = _apart(_ask, {"direct": upstream, "metered": rig.port}, json.dumps(body).encode())
            client.join()
    finally:
        provider.kill()
        provider.join()
    direct, metered = took["direct"], took["metered"]
    return {
        "endpoint_added_p50_ms": statistics.median(metered) - statistics.median(direct),
        "endpoint_direct_p50_ms": statistics.median(direct),
        "endpoint_metered_p50_ms": statistics.median(metered),
        "endpoint_added_p95_ms": metered[int(0.95 * _ROUNDS)] - direct[int(0.95 * _ROUNDS)],
    }


if __name__ == "__main__":
    print(measure())
