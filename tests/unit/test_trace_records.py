"""The lines of the trace where a cap or the disk ends what can be kept."""

from __future__ import annotations

import os

import pytest
from fairtrial.instruments.trace import wire
from fairtrial.instruments.trace.records import Caps, Records


def _begin(records, arguments, flags=b"oe"):
    """A started command and the argument bytes still to come."""
    raw = b"".join(argument + b"\0" for argument in arguments)
    head = [b"S", b"c", b"span", b"", b"0", b"git", b"1", b"5", b"4", b"3", b"2", b"1", b"9", flags]
    message = b"\0".join([*head, b"%d" % len(arguments), b"%d" % len(raw), b"/task", raw[:1000]])
    return records.begin(wire.read_start(message), os.getpid(), True, None), raw[1000:]


def _end(kept=b""):
    return wire.End(9, 0, None, len(kept), 0, kept, b"")


@pytest.mark.parametrize("caps", [Caps(argument_bytes=5000), Caps(text_bytes=3000)])
def test_cut_arguments_are_the_first_ones_without_a_hole(tmp_path, caps):
    """Past a cap the end of a command's arguments is missing, counted once, and nothing stands in its place."""
    records = Records(tmp_path / "out", caps)
    given = [b"file%04d" % n for n in range(2000)]
    record, rest = _begin(records, given)
    while rest:
        records.more(record, b"A", rest[:1000])
        rest = rest[1000:]
    records.close(None)
    found = [argument.encode() for argument in record.line["argv"]]
    assert 300 < len(found) < 2000 and records.cut_arguments == 1
    assert found[:-1] == given[: len(found) - 1] and given[len(found) - 1].startswith(found[-1])


def test_commands_past_the_cap_of_all_count_as_cut_only_when_something_is_missing(tmp_path):
    """Short arguments are kept whole however much came before them."""
    records = Records(tmp_path / "out", Caps(text_bytes=10))
    record, _ = _begin(records, [b"git", b"status", b"--short"])
    records.close(None)
    assert record.line["argv"] == ["git", "status", "--short"] and records.cut_arguments == 0


def test_a_copy_that_cannot_be_written_costs_no_record(tmp_path):
    """Where the disk takes no more, exit and byte counts are recorded, and the copy is marked as incomplete."""
    (tmp_path / "out").write_bytes(b"no folder")
    records = Records(tmp_path / "out", Caps())
    record, _ = _begin(records, [b"git", b"log"])
    records.more(record, b"O", b"first")
    records.finish(record, _end(b"last"))
    records.close(None)
    assert (record.line["exit_status"], record.line["stdout_bytes"]) == (0, 4)
    assert record.line["stdout_path"] is None and record.line["output_truncated"] and records.capture_full


def test_a_copy_ends_at_its_first_hole(tmp_path):
    """After a piece that could not be written none follows, so that what is kept is the beginning."""
    records = Records(tmp_path / "out", Caps())
    record, _ = _begin(records, [b"git", b"log"])
    records.more(record, b"O", b"first")
    record.files["stdout"].close()
    record.files["stdout"] = open("/dev/full", "wb", buffering=0)  # noqa: SIM115, PTH123 - closed by the records
    records.more(record, b"O", b"second")
    record.files["stdout"].close()
    record.files["stdout"] = record.paths["stdout"].open("ab", buffering=0)
    records.finish(record, _end(b"third"))
    records.close(None)
    assert record.paths["stdout"].read_bytes() == b"first" and records.capture_full
