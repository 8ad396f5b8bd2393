"""The ledger: one record file per reservation and settlement, created exclusively, so that no cent is forgotten.

Nothing is ever changed or deleted: what an experiment spent is read off all its records. Each start of an agent has a
token of its own (a retry is a start), so a redone attempt, a fault and a retry each count.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.capture.spend.accounts import Balance, Start, balance, starts
from fairtrial.capture.spend.accounts import entry as record_of
from fairtrial.capture.spend.leases import lock_where_possible
from fairtrial.contracts.clock import utc_now
from fairtrial.contracts.records import create
from fairtrial.paths import AttemptId, Results
from fairtrial.pricing import cost, longest

__all__ = ["Balance", "Start", "balance", "can_never_fit", "cost_of_result", "entry", "last_word", "open_attempts",
           "open_leases", "open_token", "reserve", "said", "says_paid", "settle", "settle_dead", "starts"]  # fmt: skip
SLACK = 1e-9  # US dollars: ten times 0.10 fit into 1.00


def entry(results: Results, settings: Settings, attempt_id: AttemptId, token: str, **fields: Any) -> None:
    """Write one record (schemas/ledger.schema.json)."""
    name = f"{time.time_ns()}-{token}-{fields['kind']}"
    record = {
        "schema_version": 1,
        "entry": name,
        "experiment": settings.name,
        "attempt_id": str(attempt_id),
        "token": token,
        "at": utc_now(),
        "usd": None,
        "source": None,
        "fault": None,
        "invocation": settings.invocation,
        **fields,
    }
    create(results.ledger(record["experiment"]) / _drawer(attempt_id) / f"{name}.json", record, durable=True)


def _drawer(attempt_id: AttemptId) -> str:
    """One folder an attempt, so that asking about one reads its own records only."""
    return hashlib.sha256(str(attempt_id).encode()).hexdigest()[:16]


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Reservations of one experiment go one after the other, where the disk's locks reach."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / ".lock", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        lock_where_possible(descriptor)
        yield
    finally:
        os.close(descriptor)


def reserve(
    results: Results,
    settings: Settings,
    attempt_id: AttemptId,
    token: str,
    usd: float | None,
    *,
    waiting: Callable[[], str | None] = lambda: None,
) -> str | None:
    """Before an agent that costs money starts; None: reserved, else why it must not start.

    While only what running attempts have reserved stands in the way it waits for them: most cost less than their
    bound. `waiting` is called between looks and may return a reason to give up.
    """
    pause = 0.1
    while True:
        refused, hopeless = _try(results, settings, attempt_id, token, usd)
        if refused is None or hopeless:
            return refused
        gave_up = waiting()
        if gave_up is not None:
            return gave_up
        time.sleep(pause * (0.7 + os.urandom(1)[0] / 400))  # spreads two nodes
        pause = min(2.0, pause * 1.5)


def _try(
    results: Results, settings: Settings, attempt_id: AttemptId, token: str, usd: float | None
) -> tuple[str | None, bool]:
    """(why not, would it not help to wait). The sum is read again after the record is written.

    So two nodes whose disk knows no common lock may both draw back, but never both go on over the cap.
    """
    needed, cap = usd or 0.0, settings.max_usd
    unique = f"{token}.{os.urandom(2).hex()}"
    if cap is None:
        entry(results, settings, attempt_id, unique, kind="reserve", usd=usd)
        return None, False
    with _lock(results.ledger(settings.name)):
        sums = balance(results, settings.name, remember=True)
        guessed, drew_back = sums.guessed(usd), False
        if sums.counted + guessed + needed <= cap + SLACK:
            entry(results, settings, attempt_id, unique, kind="reserve", usd=usd)
            if balance(results, settings.name).counted + guessed <= cap + SLACK:
                return None, False
            entry(results, settings, attempt_id, unique, kind="release")
            drew_back = True  # for what another node reserved meanwhile, which may end cheaper or draw back too
    spent = sums.known + sums.at_bound + guessed
    reserved = f"{sums.open:.2f} reserved by attempts that run, " if sums.open else ""
    said = (
        f"the cap is reached: {spent:.2f} USD spent, {reserved}{needed:.2f} needed, spend.max_usd is {cap:.2f}; "
        "raise it to go on"
    )
    return said, spent + needed > cap + SLACK or (sums.running == 0 and not drew_back)


def can_never_fit(results: Results, settings: Settings, usd: float | None) -> bool:
    """Is what was spent already too much for one more attempt with this bound, whatever the running ones will cost?"""
    sums, cap = balance(results, settings.name), settings.max_usd
    return cap is not None and sums.known + sums.at_bound + sums.guessed(usd) + (usd or 0.0) > cap + SLACK


def open_token(results: Results, settings: Settings, attempt_id: AttemptId, token: str) -> str | None:
    """The newest start of this lease that is not settled."""
    found = starts(results.ledger(settings.name), _drawer(attempt_id)).values()
    mine = [s.token for s in found if s.token.partition(".")[0] == token and not s.settled and not s.released]
    return mine[-1] if mine else None


def settle(
    results: Results,
    settings: Settings,
    attempt_id: AttemptId,
    token: str,
    *,
    events: dict[str, Any],
    fault: str | None,
) -> None:
    """After it ended, as a result or as a fault; an unknown cost stays null and counts at its bound."""
    token = open_token(results, settings, attempt_id, token) or token
    entry(results, settings, attempt_id, token, kind="settle", fault=fault, **said(events, settings, attempt_id))


def said(events: dict[str, Any], settings: Settings, attempt_id: AttemptId) -> dict[str, Any]:
    """{usd, source}: the CLI's or the endpoint's word, else whole token counts times the price table, else null."""
    if events.get("cost_usd") is not None:
        return {"usd": events["cost_usd"], "source": events.get("cost_source")}
    price = settings.prices.get(attempt_id.model)
    whole = events.get("tokens") and not events.get("tokens_lower_bound", True)
    largest = longest(request["tokens"] for request in events.get("requests", []))
    usd = cost(events["tokens"], price, largest) if whole else None
    return {"usd": usd, "source": None if usd is None else "price_table"}


def open_leases(results: Results, attempt_id: AttemptId) -> list[str]:
    """Tokens of the leases under which a start of this attempt is not settled, in any experiment."""
    found = starts(results.root / "ledger", f"*/{_drawer(attempt_id)}").values()
    mine = [s for s in found if not s.settled and not s.released and s.attempt_id == str(attempt_id)]
    return sorted({s.token.partition(".")[0] for s in mine})


def settle_dead(results: Results, attempt_id: AttemptId, alive: str | None, cost_of: Callable[[str], Any]) -> list[str]:
    """Settle every open reservation of an attempt whose holder is dead, in the experiment that made it.

    alive: token of the lease that is held now; cost_of: token -> {usd, source, fault} of what it left behind.
    Returns the tokens settled.
    """
    done = []
    for start in starts(results.root / "ledger", f"*/{_drawer(attempt_id)}").values():
        if start.settled or start.released or start.attempt_id != str(attempt_id):
            continue
        if alive is not None and start.token.partition(".")[0] == alive:
            continue
        settings = Settings(name=start.experiment, invocation="taken-over")
        entry(results, settings, attempt_id, start.token, kind="settle", **cost_of(start.token))
        done.append(start.token)
    return done


def last_word(results: Results, attempt_id: AttemptId, token: str) -> dict[str, Any] | None:
    """Cost of the newest start under one lease, as far as an events record holds it; None when nothing was settled."""
    found = starts(results.root / "ledger", f"*/{_drawer(attempt_id)}").values()
    mine = [s for s in found if s.token.partition(".")[0] == token and s.usd is not None]
    return {"cost_usd": mine[-1].usd, "cost_source": mine[-1].source} if mine else None


def cost_of_result(results: Results, attempt_id: AttemptId) -> float | None:
    """US dollars of the newest start of an attempt that became a result; None when that is not known."""
    found = starts(results.root / "ledger", f"*/{_drawer(attempt_id)}").values()
    mine = [s for s in found if s.settled and s.fault is None]
    return mine[-1].usd if mine else None


def open_attempts(results: Results) -> set[str]:
    """Attempts with a reservation that is not settled, in any experiment."""
    return {
        s.attempt_id
        for folder in sorted((results.root / "ledger").glob("*"))
        for s in starts(folder).values()
        if not s.settled and not s.released
    }


def says_paid(results: Results, attempt_id: AttemptId) -> bool:
    """Was this attempt settled as a result, in any experiment, and not redone since?"""
    redone = max((json.loads(p.read_bytes())["at"] for p in results.redone(attempt_id).glob("*/redo.json")), default="")
    for path in (results.root / "ledger").glob(f"*/{_drawer(attempt_id)}/*-settle.json"):
        record = record_of(path)
        if record["attempt_id"] == str(attempt_id) and record["fault"] is None and record["at"] > redone:
            return True
    return False
