"""An endpoint without a box: a recipe, a solution, and a small client that speaks to it over loopback."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairtrial.contracts.protocols import Box, Budget, Stage
from fairtrial.instruments.endpoint.instrument import Endpoint, free_port

SHELL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
FILES = {"app.py": b"print('solved')\n", "docs/new.md": b"# New\n"}
HEADERS = {"Content-Type": "application/json", "x-api-key": "sk-very-secret", "Authorization": "Bearer sk-very-secret"}


def entry(path: str, mode: str = "file", target: str | None = None) -> dict[str, Any]:
    return {"path": path, "mode": mode, "sha256": None, "target": target, "bytes": 0}


def recipe(**changes: Any) -> dict[str, Any]:
    """The part of a recipe that an endpoint looks at; `options` and `base_url` go to the model."""
    model = {
        "name": "m", "id": "m", "provider": None, "wire": None, "base_url": changes.pop("base_url", None),
        "rehearsal": changes.pop("rehearsal", True), "options": changes.pop("options", {}),
    }  # fmt: skip
    made = {
        "model": model, "price": None, "solution": [entry(path) for path in FILES], "workspace": [entry("app.py")],
        "acceptance": [entry("test_acceptance.py")], "toolset": {"name": "git"},
    }  # fmt: skip
    return {**made, **changes}


@dataclass
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The JSON of every data line."""
        lines = (line[5:].strip() for line in self.body.split(b"\n") if line.startswith(b"data:"))
        return [json.loads(line) for line in lines if line != b"[DONE]"]


class Client:
    """One keep-alive connection."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, path: str, body: Any = None, method: str = "POST") -> Reply:
        data = None if body is None else json.dumps(body).encode()
        self.connection.request(method, path, data, HEADERS)
        answer = self.connection.getresponse()
        return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())


@dataclass
class Rig:
    """A running endpoint."""

    endpoint: Endpoint
    stage: Stage
    port: int
    clients: list[Client] = field(default_factory=list)

    def client(self) -> Client:
        self.clients.append(Client(self.port))
        return self.clients[-1]

    def rows(self) -> list[dict[str, Any]]:
        """requests.jsonl as it is."""
        return [json.loads(line) for line in (self.stage.folder / "requests.jsonl").read_bytes().splitlines()]

    def stop(self) -> list[dict[str, Any]]:
        self.endpoint.stop(self.stage)
        return self.rows()


@contextlib.contextmanager
def running(
    folder: Path, made: dict[str, Any] | None = None, *, main: int | None = None, budget: Budget | None = None,
    files: dict[str, bytes] = FILES, **other: Any,
) -> Iterator[Rig]:  # fmt: skip
    """An endpoint whose `main process` is this one, or `main`; `files` is the solution."""
    made = made or recipe()
    solution = folder / "solution"
    for path, content in files.items():
        (solution / path).parent.mkdir(parents=True, exist_ok=True)
        (solution / path).write_bytes(content)
    for name in ("evidence", "more", "workspace", "home"):
        (folder / name).mkdir(exist_ok=True)
    port = free_port(boxed=False)
    endpoint = Endpoint(port, solution=solution, **other)
    box = Box(folder / "workspace", folder / "home", network="endpoint")
    stage = Stage("a/b/c/d/e/r1", folder / "evidence", folder / "more", box, budget or Budget(60), made)
    rig = Rig(endpoint, stage, port)
    try:
        endpoint.prepare(stage)
        endpoint.listen(socket.create_server(("127.0.0.1", port)))
        endpoint.start(stage, os.getpid() if main is None else main, time.monotonic_ns())
        yield rig
    finally:
        for client in rig.clients:
            client.connection.close()
        endpoint.stop(stage)
