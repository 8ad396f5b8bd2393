"""Large and odd output."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests import box_rig as rig

BOXES = rig.boxes()


def is_result(line: bytes) -> bool:
    """A final event of the invented stream."""
    return b'"result"' in line


@pytest.fixture(params=sorted(BOXES))
def backend(request):
    """Each back end of this machine."""
    return BOXES[request.param]


def test_a_long_line_and_a_full_stderr(tmp_path, backend):
    """8 MiB in one line with 2 MiB on stderr in between: all kept, the final event seen (O11)."""
    made = rig.program(
        tmp_path,
        "import sys\nw = sys.stdout.write\nw('{}\\n'); w('y' * (8 << 20) + '\\n')\n"
        "sys.stderr.write('e' * (2 << 20)); sys.stderr.flush(); w('\"result\"\\n')\n",
    )  # fmt: skip
    report = rig.watch(tmp_path, made, backend=backend, is_final_event=is_result)
    assert report.final_event_ns is not None
    assert (report.stdout_bytes, report.stderr_bytes) == ((8 << 20) + 13, 2 << 20)
    lines = [json.loads(line) for line in (tmp_path / "times").read_text().splitlines()]
    assert [line["line"] for line in lines] == [1, 2, 3]
    assert [line["at_ns"] for line in lines] == sorted(line["at_ns"] for line in lines)


def test_much_output_takes_constant_memory(tmp_path):
    """2 GB of output: the first bytes kept, all counted, the final event beyond the cap kept, memory flat (O11)."""
    script = (
        "import json, sys; from pathlib import Path\n"
        "from fairtrial.contracts.protocols import Box, Budget, Limits\n"
        "from fairtrial.instruments.sandbox import run\n"
        "t = Path(sys.argv[1])\n"
        "box = Box(t / 'w', t / 'h', ['sh', '-c', 'yes $(printf %0100d 0) | head -c 2000000000;"
        " echo; echo \\'\"result\"\\''],"
        " limits=Limits(output_bytes=1 << 20))\n"
        "r = run.run(box, Budget(300), stdout=t / 'o', stderr=t / 'e', times=t / 't', "
        "is_final_event=lambda line: b'result' in line)\n"
        "print(json.dumps([r.stdout_bytes, r.stdout_kept_bytes, r.final_event_ns is not None, r.timed_out,"
        " [int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM')][0]]))\n"
    )
    for name in ("w", "h"):
        (tmp_path / name).mkdir()
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    total, kept, final, timed_out, memory = json.loads(done.stdout)
    assert (total, final, timed_out) == (2_000_000_010, True, False)
    assert kept == (1 << 20) + 10 == (tmp_path / "o").stat().st_size
    assert (tmp_path / "o").read_bytes().endswith(b'\n"result"\n')
    assert memory < 120_000  # KiB


def test_bytes_that_are_no_text(tmp_path, backend):
    """Whatever the bytes, they arrive as they are, and only a newline ends a line (O12)."""
    odd = b'{"a":"\xb2"}\r\n\x00\x1b[31m\xff\n"\xe2\x80\xa8 \xed\xb2\xb2"\rx\n{"torn'
    made = rig.program(tmp_path, "import sys; sys.stdout.buffer.write(open('odd', 'rb').read())")
    (made.workspace / "odd").write_bytes(odd)
    rig.watch(tmp_path, made, backend=backend)
    assert (tmp_path / "out").read_bytes() == odd
    assert len((tmp_path / "times").read_text().splitlines()) == 4
