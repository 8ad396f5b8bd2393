"""The verifier's module: black box, strict values, files of a hostile product, and its use by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fairtrial.verify import Failed, Verification
from fairtrial.verify.files import copy_tree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PRODUCT = """
import os, sys
class Odd(Exception): pass
class Sub(int): pass
def add(a, b=1): print("noise"); sys.stderr.write("more"); return a + b
def value(x): return x
def odd(): return Sub(3)
def boom(): raise Odd("because")
def hang():
    while True: pass
def leave(): os._exit(0)
def deep(n):
    v = 0
    for _ in range(n): v = [v]
    return v
"""
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@pytest.fixture
def v(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Verification:
    """A verification of a small product, without a box, reporting to a file."""
    workspace, task = tmp_path / "workspace", tmp_path / "task"
    (workspace / "pkg").mkdir(parents=True)
    task.mkdir()
    (workspace / "pkg" / "m.py").write_text(PRODUCT)
    (workspace / "hello.txt").write_text("hello")
    settings = {
        "workspace": str(workspace), "task": str(task), "prefix": [], "nonce": "n", "python": sys.executable,
        "report": str(tmp_path / "report.json"), "seconds": 60,
    }  # fmt: skip
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    monkeypatch.setenv("FAIRTRIAL_VERIFY", str(tmp_path / "settings.json"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return Verification()


def report(tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "report.json").read_text())
    return found


def test_checks_run_in_order_and_are_reported_once(v: Verification, tmp_path: Path) -> None:
    """Failed and AssertionError fail a check with their words; the report carries the nonce and leaves no copies."""
    v.check("one")(lambda: None)
    v.check("two")(lambda: v.equal(1, 2, "number"))
    v.check("three")(lambda: [][:0] or (_ for _ in ()).throw(AssertionError()))
    v.finish()
    assert report(tmp_path) == {
        "nonce": "n",
        "checks": [
            {"name": "one", "passed": True, "detail": ""},
            {"name": "two", "passed": False, "detail": "number: got 1, want 2"},
            {"name": "three", "passed": False, "detail": "AssertionError"},
        ],
    }
    assert not list(tmp_path.glob("verify-*"))


def test_a_mistake_in_the_verifier_is_said_by_name(
    v: Verification, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Any other exception ends with status 3 and the check it happened in."""
    v.check("one")(lambda: {}["x"])
    with pytest.raises(SystemExit) as caught:
        v.finish()
    assert caught.value.code == 3
    assert report(tmp_path)["error"] == {"check": "one", "detail": "KeyError: 'x'"}
    assert "KeyError" in capsys.readouterr().err


def test_a_missing_product_file_is_the_products_failing(v: Verification, tmp_path: Path) -> None:
    """Plain file access inside the workspace that fails is a failed check, not a mistake in the verifier."""
    v.check("one")(lambda: (v.workspace / "gone").read_text() and None)
    v.finish()
    assert "gone" in report(tmp_path)["checks"][0]["detail"]


def test_a_name_cannot_be_registered_twice(v: Verification) -> None:
    """Two checks of one name are a mistake."""
    v.check("one")(lambda: None)
    with pytest.raises(ValueError, match="defined twice"):
        v.check("one")(lambda: None)


def test_a_command_runs_on_a_fresh_copy(v: Verification) -> None:
    """Files are laid over, stdin arrives, the workspace stays untouched, and a later command starts fresh."""
    command = ["sh", "-c", "cat in.txt hello.txt -; echo x > hello.txt"]
    result = v.run(command, files={"in.txt": "a", "sub/b": b"\0"}, stdin=b"b")
    assert (result.status, result.text, result.timed_out) == (0, "ahellob", False)
    assert v.run(["cat", "hello.txt"]).text == "hello"
    assert v.run(["cat", "hello.txt", "sub/b"], at=result.folder).stdout == b"x\n\0"


def test_a_hang_or_a_crash_never_raises(v: Verification) -> None:
    """It is in the result; ok() makes a failed check of it, with the command's own words."""
    began = time.monotonic()
    slow = v.run(["sh", "-c", "echo partial; sleep 60 & sleep 60"], timeout=0.4)
    assert (slow.timed_out, slow.stdout) == (True, b"partial\n")
    assert time.monotonic() - began < 5
    killed = v.run(["sh", "-c", "echo no >&2; kill -11 $$"])
    assert killed.status == -11
    for result, kind in ((slow, "timeout"), (killed, "crash"), (v.run(["false"]), "status")):
        with pytest.raises(Failed) as caught:
            v.ok(result)
        assert caught.value.kind == kind
    assert v.run(["/no/such/program"]).status == 127


def test_a_left_over_writer_does_not_hold_the_verifier(v: Verification) -> None:
    """A child in a session of its own that keeps the pipe open delays the result by a moment only."""
    began = time.monotonic()
    result = v.run(["sh", "-c", "setsid sleep 5 & echo done"], timeout=10)
    assert (result.stdout, result.timed_out) == (b"done\n", False)
    assert time.monotonic() - began < 3


def test_endless_output_is_capped(v: Verification) -> None:
    """More than the cap is drained and dropped."""
    result = v.run(["sh", "-c", "head -c 40000000 /dev/zero"], timeout=20)
    assert (result.status, len(result.stdout), result.truncated) == (0, 16 << 20, True)


def test_a_function_is_called_in_a_child(v: Verification) -> None:
    """Positional and named arguments; prints of the product do not disturb the value."""
    assert v.call("pkg.m", "add", [2], {"b": 5}) == 7
    assert v.calls("m", "add", [([1], {}), ([2, 3], {})], path="pkg") == [2, 5]


@settings(max_examples=15, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(values, min_size=1, max_size=8))
def test_values_cross_unchanged(v: Verification, sent: list[Any]) -> None:
    """Any plain JSON value comes back from the product's child with the same types."""
    back = v.calls("pkg.m", "value", [([value], {}) for value in sent])
    v.equal(back, sent)


@pytest.mark.parametrize(
    ("function", "arguments", "kind", "word"),
    [
        ("odd", [], "value", "returned Sub"),
        ("boom", [], "exception", "raised Odd: because"),
        ("hang", [], "timeout", "hangs"),
        ("leave", [], "crash", "without an answer (status 0)"),
        ("deep", [100000], "crash", "without an answer"),
        ("missing", [], "exception", "AttributeError"),
    ],
)
def test_what_is_no_plain_value_fails(
    v: Verification, function: str, arguments: list[Any], kind: str, word: str
) -> None:
    """Sub-classes, exceptions, hangs, early exits and unreadable depth are failures with a kind."""
    with pytest.raises(Failed) as caught:
        v.call("pkg.m", function, arguments, timeout=1.5)
    assert (caught.value.kind, word in str(caught.value)) == (kind, True)


def test_nesting_as_deep_as_people_use_is_a_value(v: Verification) -> None:
    """A hundred levels are still plain JSON."""
    value: Any = 0
    for _ in range(100):
        value = [value]
    v.equal(v.call("pkg.m", "deep", [100]), value)


def test_an_expected_exception_is_asked_for_by_class(v: Verification) -> None:
    """Also by the name of a base class; another one, or none, fails."""
    v.raises("Odd", "pkg.m", "boom")
    v.raises("Exception", "pkg.m", "boom")
    for name, function in (("KeyError", "boom"), ("Odd", "add")):
        with pytest.raises(Failed):
            v.raises(name, "pkg.m", function, [1] if function == "add" else [])


@pytest.mark.parametrize(
    ("got", "want"),
    [(1, True), (1, 1.0), ("1", 1), ([1], (1,)), ({"a": 1}, {"a": 1, "b": 2}), ({1: 1}, {"1": 1}), (float("nan"),) * 2],
)
def test_equal_is_strict(v: Verification, got: Any, want: Any) -> None:
    """Same value of another type is not the same; not a number equals nothing."""
    with pytest.raises(Failed):
        v.equal(got, want)
    v.equal([{"a": [1, 2.5, None, "x"]}], [{"a": [1, 2.5, None, "x"]}])


def test_links_and_pipes_are_no_files(v: Verification, tmp_path: Path) -> None:
    """read() follows no link anywhere on the way and does not block on a pipe."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_text("secret")
    (v.workspace / "link").symlink_to(tmp_path / "outside" / "f")
    (v.workspace / "folder").symlink_to(tmp_path / "outside")
    os.mkfifo(v.workspace / "pipe")
    for name in ("link", "folder/f", "pipe", "pkg", "none"):
        with pytest.raises(Failed):
            v.read(name)
    assert v.text("hello.txt") == "hello"


def test_files_are_never_written_through_a_products_link(v: Verification, tmp_path: Path) -> None:
    """A product that leaves a link where the verifier lays a file cannot redirect the write."""
    (tmp_path / "outside").mkdir()
    victim = tmp_path / "outside" / "victim"
    victim.write_text("mine")
    folder = v.run(["sh", "-c", f"ln -s {victim} in.csv; ln -s {victim.parent} sub"]).folder
    v.run(["true"], files={"in.csv": "new", "sub/victim": "new"}, at=folder)
    assert victim.read_text() == "mine"


def test_product_time_ends_before_the_verifiers_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often the product hangs, the verifier keeps time to say so."""
    (tmp_path / "w").mkdir()
    settings = {"workspace": str(tmp_path / "w"), "task": str(tmp_path), "seconds": 1.0, "report": str(tmp_path / "r")}
    (tmp_path / "s.json").write_text(json.dumps(settings))
    monkeypatch.setenv("FAIRTRIAL_VERIFY", str(tmp_path / "s.json"))
    began = time.monotonic()
    verification = Verification()
    assert all(verification.run(["sleep", "9"]).timed_out for _ in range(4))
    assert time.monotonic() - began < 1.0
    verification.finish()


def test_copies_keep_modes_and_leave_caches_and_devices_out(tmp_path: Path) -> None:
    """Executable bits, empty folders and links stay; bytecode and pipes do not come along."""
    source = tmp_path / "s"
    (source / "empty").mkdir(parents=True)
    (source / "__pycache__").mkdir()
    (source / "run").write_text("x")
    (source / "run").chmod(0o755)
    (source / "dead").symlink_to("nowhere")
    os.mkfifo(source / "pipe")
    copy_tree(source, tmp_path / "t")
    assert sorted(p.name for p in (tmp_path / "t").iterdir()) == ["dead", "empty", "run"]
    assert (tmp_path / "t" / "run").stat().st_mode & 0o777 == 0o755


def test_a_verifier_runs_by_hand(tmp_path: Path) -> None:
    """Without settings: WORKSPACE and TASKFOLDER as arguments, the report on stdout, prints kept apart from it."""
    (tmp_path / "verifier").mkdir()
    (tmp_path / "workspace").mkdir()
    script = tmp_path / "verifier" / "verify.py"
    script.write_text(
        "from fairtrial.verify import Verification\nv = Verification()\nprint('progress')\n"
        "@v.check('one')\ndef one(): v.ok(v.run(['true']))\nv.finish()\n"
    )
    env = {k: v for k, v in os.environ.items() if not k.startswith("FAIRTRIAL")}
    done = subprocess.run(
        [sys.executable, script, tmp_path / "workspace", tmp_path], capture_output=True, check=True, env=env
    )
    assert json.loads(done.stdout)["checks"] == [{"name": "one", "passed": True, "detail": ""}]
    assert b"progress" in done.stderr
    usage = subprocess.run([sys.executable, script], capture_output=True, check=False, env=env)
    assert (usage.returncode, b"usage: verify.py WORKSPACE" in usage.stderr) == (2, True)
