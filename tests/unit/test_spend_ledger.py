"""The ledger: every cent counted once, caps that hold, and what the dead left settled."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path

import pytest
from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import accounts, leases, ledger
from fairtrial.contracts.lean import replaced
from fairtrial.contracts.records import dump, load, validate
from fairtrial.paths import AttemptId, Results
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

ID = AttemptId("s", "t", "h", "m", "0" * 12, 1)
SETTINGS = Settings(name="money", max_usd=1.0)


def reserve(results: Results, token: str, usd: float | None, settings: Settings = SETTINGS, **more) -> str | None:
    """Reserve for one attempt."""
    return ledger.reserve(results, settings, replaced(ID, repetition=int(token)), token, usd, **more)


def settle(results: Results, token: str, usd: float | None, fault: str | None = None) -> None:
    """Settle one attempt."""
    attempt_id = replaced(ID, repetition=int(token))
    ledger.settle(results, SETTINGS, attempt_id, token, events={"cost_usd": usd, "cost_source": "cli"}, fault=fault)


def test_ten_reservations_of_a_tenth_fit_into_one_dollar_and_no_eleventh(tmp_path: Path) -> None:
    """The cap is compared in dollars, not in floats; what does not fit is told with all its numbers."""
    results = Results(tmp_path)
    assert [reserve(results, str(n), 0.1) for n in range(1, 11)] == [None] * 10
    said = reserve(results, "11", 0.1, waiting=lambda: "the test waits no longer")
    assert said == "the test waits no longer"
    for n in range(1, 11):
        settle(results, str(n), 0.1)
    refused = reserve(results, "11", 0.1)
    assert refused is not None
    assert "1.00 USD spent" in refused
    assert "spend.max_usd is 1.00" in refused


def test_a_reservation_waits_while_cheaper_ends_may_make_room(tmp_path: Path) -> None:
    """What running attempts have reserved but will not spend comes free again."""
    results = Results(tmp_path)
    assert reserve(results, "1", 0.9) is None
    looks: list[int] = []

    def look() -> None:
        looks.append(1)
        if len(looks) == 2:
            settle(results, "1", 0.05)

    assert reserve(results, "2", 0.9, waiting=look) is None
    assert ledger.balance(results, "money").counted == pytest.approx(0.95)


def test_parallel_reservations_never_pass_the_cap(tmp_path: Path) -> None:
    """Twelve at once, room for five: five go on."""
    results = Results(tmp_path)
    said: dict[int, str | None] = {}

    def one(n: int) -> None:
        said[n] = reserve(results, str(n), 0.2, waiting=lambda: "enough")

    threads = [threading.Thread(target=one, args=(n,)) for n in range(1, 13)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(said.values()).count(None) == 5
    assert ledger.balance(results, "money").counted == pytest.approx(1.0)


def test_a_disk_without_locks_holds_the_cap_too(tmp_path: Path, monkeypatch) -> None:
    """Where `flock` is refused, two that want the last dollar at once may draw back, and then one goes on."""
    results = Results(tmp_path)

    def refused(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(leases.fcntl, "flock", refused)
    seen = threading.Barrier(2, timeout=20)
    whole, looked = ledger.balance, threading.local()

    def at_once(*given, **more) -> ledger.Balance:
        sums = whole(*given, **more)
        if not hasattr(looked, "first"):
            looked.first = True
            seen.wait()
        return sums

    monkeypatch.setattr(ledger, "balance", at_once)
    said: dict[str, str | None] = {}

    def one(token: str) -> None:
        said[token] = reserve(results, token, 0.9, waiting=lambda: "enough" if None in said.values() else None)

    threads = [threading.Thread(target=one, args=(token,)) for token in ("1", "2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said.values(), key=str) == [None, "enough"]
    assert whole(results, "money").counted == pytest.approx(0.9)


def test_unknown_cost_counts_at_its_bound_and_faults_count(tmp_path: Path) -> None:
    """A fault's cent is a cent; a cost nobody knows takes its whole reservation from the cap."""
    results = Results(tmp_path)
    reserve(results, "1", 0.3)
    settle(results, "1", 0.04, fault="quota")
    reserve(results, "2", 0.3)
    settle(results, "2", None)
    sums = ledger.balance(results, "money")
    assert (sums.known, sums.at_bound, sums.unknown, sums.open) == (0.04, 0.3, 1, 0)


def test_records_keep_to_their_schema(tmp_path: Path) -> None:
    """Reservation, settlement and release are valid ledger records."""
    results = Results(tmp_path)
    reserve(results, "1", 0.3)
    settle(results, "1", 0.04)
    for path in results.ledger("money").glob("*/*.json"):
        validate(load(path), "ledger", path.name)


def test_dead_reservations_are_settled_at_their_bound_once(tmp_path: Path) -> None:
    """Taken over twice, settled once; the holder's own reservation is left alone."""
    results = Results(tmp_path)
    ledger.reserve(results, SETTINGS, ID, "dead", 0.3)
    ledger.reserve(results, SETTINGS, ID, "alive", 0.2)
    unknown = {"usd": None, "source": None, "fault": "interrupted"}
    done = ledger.settle_dead(results, ID, "alive", lambda token: unknown)
    assert [token.partition(".")[0] for token in done] == ["dead"]
    assert ledger.settle_dead(results, ID, "alive", lambda token: unknown) == []
    sums = ledger.balance(results, "money")
    assert (sums.at_bound, sums.open, sums.running) == (0.3, 0.2, 1)
    assert ledger.open_attempts(results) == {str(ID)}


def test_a_settlement_that_comes_late_replaces_the_guess(tmp_path: Path) -> None:
    """An attempt taken over as dead that was not: its own word counts, once."""
    results = Results(tmp_path)
    ledger.reserve(results, SETTINGS, ID, "late", 0.5)
    ledger.settle_dead(results, ID, None, lambda token: {"usd": None, "source": None, "fault": "interrupted"})
    token = next(iter(ledger.starts(results.ledger("money"))))
    ledger.entry(results, SETTINGS, ID, token, kind="settle", usd=0.02, source="cli")
    assert ledger.balance(results, "money").counted == 0.02


def test_whole_tokens_times_the_price_table_are_a_cost_and_a_lower_bound_is_none(tmp_path: Path) -> None:
    """Codex names no dollars; its token counts do, unless the program died over them."""
    tokens = {"input_uncached": 1_000_000, "cache_read": None, "cache_write": None, "output": 0, "reasoning": None}
    settings = replaced(SETTINGS, prices={"m": {"input": 2.0, "output": 8.0}})
    whole = {"cost_usd": None, "tokens": tokens, "tokens_lower_bound": False}
    assert ledger.said(whole, settings, ID) == {"usd": 2.0, "source": "price_table"}
    assert ledger.said({**whole, "tokens_lower_bound": True}, settings, ID)["usd"] is None
    assert ledger.said({}, settings, ID) == {"usd": None, "source": None}


def test_a_redo_takes_back_what_was_paid_before_it_only(tmp_path: Path) -> None:
    """Paid, redone: not paid; paid again: paid."""
    results = Results(tmp_path)
    settle(results, "1", 0.1)
    attempt_id = replaced(ID, repetition=1)
    assert ledger.says_paid(results, attempt_id)
    dump(results.redone(attempt_id) / "20991231T000000" / "redo.json", {"at": "2099-12-31T00:00:00.000Z"})
    assert not ledger.says_paid(results, attempt_id)
    dump(results.redone(attempt_id) / "20991231T000000" / "redo.json", {"at": "2000-01-01T00:00:00.000Z"})
    assert ledger.says_paid(results, attempt_id)


@effort(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(0, 3), st.one_of(st.none(), st.floats(0, 3)), st.booleans()), max_size=8))
def test_the_balance_is_the_sum_of_what_was_settled(made: list[tuple[float, float | None, bool]]) -> None:
    """Any mix of costs, unknown costs and reservations still open adds up."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        results = Results(Path(folder))
        free = Settings(name="money")
        for n, (bound, usd, settled) in enumerate(made, 1):
            reserve(results, str(n), bound, free)
            if settled:
                settle(results, str(n), usd)
        sums = ledger.balance(results, "money")
        known = sum(usd for _, usd, settled in made if settled and usd is not None)
        rest = sum(bound for bound, usd, settled in made if not settled or usd is None)
        assert abs(sums.known - known) < 1e-9
        assert abs(sums.counted - known - rest) < 1e-9


AGES = st.lists(
    st.tuples(st.integers(1, 6), st.floats(0.0, 0.2), st.sampled_from(["reserve", "settle", "fault", "free"]))
)


@given(steps=AGES)
@effort(max_examples=30, deadline=None)
def test_remembered_sums_are_those_of_all_records(steps: list[tuple[int, float, str]], tmp_path_factory) -> None:
    """Whatever is added to folders at rest or in use, the balance is what reading every record gives."""
    results, known = Results(tmp_path_factory.mktemp("ledger")), replaced(SETTINGS, max_usd=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "WORTH", 1)
        for number, (repetition, usd, kind) in enumerate(steps):
            attempt_id = replaced(ID, repetition=repetition)
            token = str(repetition) if kind != "free" else f"t{number}"
            fields = {"kind": "reserve"} if kind == "reserve" else {"kind": "settle", "fault": None}
            ledger.entry(results, known, attempt_id, token, usd=None if kind == "fault" else usd, **fields)
            age_all_but_one(results, number)
            ledger.balance(results, "money", remember=True)
        remembered = ledger.balance(results, "money")
        (results.ledger("money") / accounts.SUMS).unlink(missing_ok=True)
        read = ledger.balance(results, "money")
    assert (remembered.unknown, remembered.running) == (read.unknown, read.running)
    assert remembered.counted == pytest.approx(read.counted)


def age_all_but_one(results: Results, number: int) -> None:
    """Every folder but one was changed long ago, each at a time of its own, as on a disk that keeps time."""
    folders = sorted(path for path in results.ledger("money").glob("*") if path.is_dir())
    for folder in folders[1:]:
        if folder.stat().st_mtime > time.time() - 100:
            os.utime(folder, ns=(1, (1_000_000 + number) * 10**9))


def test_a_torn_file_of_sums_is_not_believed(tmp_path: Path) -> None:
    """It is derived: everything is read."""
    results = Results(tmp_path)
    assert reserve(results, "1", 0.3) is None
    settle(results, "1", 0.2)
    for content in ("", "null", "[]", '{"folders": {"a": 1}}', '{"folders": [1]}', "{"):
        (results.ledger("money") / accounts.SUMS).write_text(content)
        assert ledger.balance(results, "money").known == pytest.approx(0.2)


def test_a_folder_that_just_changed_is_not_remembered(tmp_path: Path, monkeypatch) -> None:
    """A second record in the same tick of the disk's clock would go unseen."""
    results = Results(tmp_path)
    monkeypatch.setattr(accounts, "WORTH", 1)
    assert reserve(results, "1", 0.3) is None
    ledger.balance(results, "money", remember=True)
    assert not (results.ledger("money") / accounts.SUMS).exists()
