"""Keeping, counting and timing an output stream, whatever pieces it arrives in."""

from __future__ import annotations

import io
import json

from fairtrial.instruments.sandbox import streams
from fairtrial.instruments.sandbox.streams import LineSink, Sink
from hypothesis import given
from hypothesis import strategies as st

PIECES = st.lists(st.lists(st.sampled_from([b"\n", b"a", b"\r", b"\xff", b"\0", b"END", b"\xe2\x80\xa8"]), max_size=6))


def _feed(pieces, cap=1 << 20, is_final_event=None):
    file, times = io.BytesIO(), io.BytesIO()
    sink = LineSink(file, cap, times, is_final_event)
    for at, piece in enumerate(pieces):
        sink.feed(piece, at)
    sink.finish(len(pieces))
    return sink, file.getvalue(), [json.loads(line) for line in times.getvalue().splitlines()]


@given(PIECES)
def test_all_is_kept_and_each_line_is_timed(lists):
    """Below the cap the file is the stream, and there is one rising time per line."""
    pieces = [b"".join(one) for one in lists]
    sink, kept, times = _feed(pieces)
    whole = b"".join(pieces)
    lines = whole.split(b"\n")
    assert (kept, sink.total, sink.kept) == (whole, len(whole), len(whole))
    assert [time["line"] for time in times] == list(range(1, len(lines) + bool(lines[-1])))
    assert [time["at_ns"] for time in times] == sorted(time["at_ns"] for time in times)


@given(PIECES)
def test_the_final_event_is_seen_in_any_pieces(lists):
    """A final event is found however the stream was cut, at the time its newline came, and the last one counts."""
    pieces = [b"".join(one) for one in lists]
    sink, _, _ = _feed(pieces, is_final_event=lambda line: line == b"END")
    whole, found = b"", None
    for at, piece in enumerate(pieces):
        before = whole.count(b"\n")
        whole += piece
        if b"END" in whole.split(b"\n")[before : whole.count(b"\n")]:
            found = at
    if whole.split(b"\n")[-1] == b"END":
        found = len(pieces)
    assert sink.final_ns == found


@given(PIECES, st.integers(0, 12))
def test_beyond_the_cap_only_final_events_are_kept(lists, cap):
    """The file is the first bytes of the stream, then only whole final events."""
    pieces = [b"".join(one) for one in lists]
    sink, kept, _ = _feed(pieces, cap, lambda line: line == b"END")
    whole = b"".join(pieces)
    assert sink.total == len(whole)
    assert kept.startswith(whole[:cap])
    assert kept[min(cap, len(whole)) :].replace(b"\nEND\n", b"") == b""
    assert (b"END" in whole.split(b"\n")) <= (b"END" in kept.split(b"\n"))


def test_a_harness_that_trips_over_a_line_loses_nothing():
    """An exception in is_final_event counts as no, for that line only."""
    sink, kept, _ = _feed([b"bad\n[1]\n"], is_final_event=lambda line: bool(json.loads(line)))
    assert (sink.final_ns, kept) == (0, b"bad\n[1]\n")


def test_a_line_without_end_takes_no_memory(monkeypatch):
    """A line longer than can be shown to a harness is kept in the file and dropped from memory."""
    monkeypatch.setattr(streams, "_LONGEST_LINE", 1000)
    file = io.BytesIO()
    sink = LineSink(file, 1 << 20, io.BytesIO(), lambda line: True)
    for _ in range(10):
        sink.feed(b"x" * 500, 1)
    assert sum(map(len, sink._line)) <= 1000
    assert len(file.getvalue()) == 5000


def test_times_are_bounded(monkeypatch):
    """A stream of nothing but newlines does not make a huge file of times."""
    monkeypatch.setattr(streams, "_MOST_TIMES", 10)
    _, kept, times = _feed([b"\n" * 7, b"\n" * 7])
    assert (len(kept), len(times)) == (14, 10)


def test_a_sink_counts_what_it_drops():
    """Standard error: the first bytes, and how many there were."""
    file = io.BytesIO()
    sink = Sink(file, 5)
    for _ in range(3):
        sink.feed(b"abc", 0)
    assert (file.getvalue(), sink.total, sink.kept) == (b"abcab", 9, 5)
