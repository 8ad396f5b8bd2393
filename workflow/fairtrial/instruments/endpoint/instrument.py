"""The instrument: one endpoint per attempt, resident outside the box."""

from __future__ import annotations

import socket
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import Json, Stage
from fairtrial.instruments.endpoint.caps import Caps, caps_for
from fairtrial.instruments.endpoint.forward import Forwarder
from fairtrial.instruments.endpoint.journal import Journal
from fairtrial.instruments.endpoint.rehearsal import Rehearsal
from fairtrial.instruments.endpoint.server import Server
from fairtrial.instruments.endpoint.service import Service
from fairtrial.instruments.endpoint.turn import CATEGORIES, no_tokens

REQUESTS = "requests.jsonl"
PORT = 8923  # inside a box with a network of its own any port is free


def free_port(boxed: bool) -> int:
    """The port of an attempt, known before its box: a fixed one inside, else one that is free on this machine."""
    if boxed:
        return PORT
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class Endpoint:
    """Meter or rehearsal model, as the recipe says. `own_caps`: what the program enforces itself.

    `solution`: host folder of the frozen solution, for a rehearsal. `workspace`: its path as the agent sees it.
    """

    name = "endpoint"

    def __init__(
        self, port: int, *, own_caps: Collection[str] = (), solution: Path | None = None, workspace: str = "/task",
        seed: int = 0,
    ) -> None:  # fmt: skip
        self.port = port
        self._own_caps, self._solution, self._workspace, self._seed = own_caps, solution, workspace, seed
        self._journal: Journal | None = None
        self._caps: Caps | None = None
        self._model: Rehearsal | None = None
        self._forwarder: Forwarder | None = None
        self._server: Server | None = None
        self._rows: list[Json] = []
        self._unlisted = 0

    def prepare(self, stage: Stage) -> None:
        """Start the thread. Raises Fault('endpoint')."""
        recipe = stage.recipe
        self._caps = caps_for(stage.budget, recipe["price"], self._own_caps)
        if recipe["model"]["rehearsal"]:
            if self._solution is None:
                raise Fault("endpoint", "the rehearsal model needs the task's solution, and the recipe has none")
            self._model = Rehearsal(recipe, self._solution, self._workspace, self._seed)
        else:
            self._forwarder = Forwarder(recipe["model"]["base_url"])
        self._journal = Journal(stage.folder / REQUESTS, simulated=self._model is not None)
        self._server = Server(self._service, self._forwarder.close if self._forwarder else None)
        self._server.begin()

    def _service(self) -> Service:
        if self._journal is None or self._caps is None:
            raise RuntimeError("not prepared")
        service = Service(self._journal, self._caps, self._model, self._forwarder)
        service.port = self.port
        return service

    def listen(self, listener: socket.socket) -> None:
        """Take over the socket that listens inside the box; a model that refuses from the start lets it go."""
        if self._model is not None and (self._model.fault(1) or {}).get("kind") == "refused":
            listener.close()
        elif self._server is not None:
            self._server.listen(listener)

    def start(self, stage: Stage, main_pid: int, clock_ns: int) -> None:
        """The agent's main process is known: requests are answered from here on."""

        def begin(service: Service) -> None:
            service.main, service.clock_ns = main_pid, clock_ns
            service.ready.set()

        if self._server is not None:
            self._server.tell(begin)

    def stop_reason(self) -> str | None:
        """For the sandbox's stop_event."""
        service = self._server.service if self._server else None
        return service.stop_reason() if service else None

    def cap_reached(self) -> str | None:
        """turn_cap, token_cap or usd_cap after a refusal, whatever the program made of it."""
        service = self._server.service if self._server else None
        return service.cap_reached() if service else None

    def stop(self, stage: Stage) -> None:
        """End the thread and leave requests.jsonl with one line a request. Raises Fault('disk')."""
        if self._server is not None:
            self._server.end()
        journal, self._journal = self._journal, None
        if journal is not None:
            self._rows, self._unlisted = journal.rows, journal.unlisted
            try:
                journal.finish()
            except OSError as error:
                raise Fault("disk", f"{REQUESTS} could not be written: {error}") from None

    def facts(self) -> Json:
        """Sums over the model requests; US dollars, seconds, tokens. What was not said is null.

        An answer that broke off makes the tokens a lower bound and the cost unknown.
        """
        rows = [row for row in self._rows if row["wire"] != "other"]
        answered = [row for row in rows if row["status"] is not None and row["status"] < 300]
        caps, torn = self._caps, any(_torn(row) for row in rows)
        observed = [row["model_observed"] for row in answered if row["model_observed"]]
        return {
            "kind": "rehearsal" if self._model else "meter",
            "requests": len(rows),
            "other_requests": len(self._rows) - len(rows) + self._unlisted,
            "answered": len(answered),
            "turns": caps.used_turns if caps else None,
            "api_seconds": sum((row["ended_ns"] - row["started_ns"]) / 1e9 for row in rows if row["ended_ns"]),
            "tokens": _tokens(answered),
            "tokens_lower_bound": torn,
            "cost_usd": caps.used_usd if caps and caps.cost_known and answered and not torn else None,
            "model_observed": observed[-1] if observed else None,
            "retry_after_seconds": _wait(rows),
            "refused": sorted({row["refused"] for row in rows if row["refused"]}),
            "foreign": sum(row["main_process"] is False for row in self._rows),
            "caps": {"turns": caps.turns, "tokens": caps.tokens, "usd": caps.usd} if caps else None,
            "usd_cap_enforceable": None if caps is None or caps.usd is None else caps.price is not None,
            "planned_to_pass": self._model.passes if self._model else None,
        }


def _torn(row: Json) -> bool:
    """An answer that broke off or was never whole: what it cost is not known in full."""
    return row["ended_ns"] is None or (row["status"] < 300 and row["tokens"]["output"] is None)


def _wait(rows: Sequence[Json]) -> float | None:
    """Seconds the provider asked for with the last answer it gave, when that was a refusal that names any."""
    said = [row for row in rows if row["status"] is not None and not row["refused"]]
    return said[-1]["retry_after_seconds"] if said else None


def _tokens(rows: Sequence[Json]) -> dict[str, Any]:
    """Sums by category over the rows that say one; null where none does."""
    sums: dict[str, int | None] = no_tokens()
    for category in CATEGORIES:
        said = [row["tokens"][category] for row in rows if row["tokens"][category] is not None]
        sums[category] = sum(said) if said else None
    return sums
