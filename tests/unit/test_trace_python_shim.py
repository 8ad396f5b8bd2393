"""The Python shim: the interpreters and locales it starts under, and where it lies without a box."""

from __future__ import annotations

import os
import subprocess
import tempfile

import pytest
from fairtrial.instruments.trace import interpreter, short

from tests import trace_rig as rig_module


def _rig(folder, kind):
    return rig_module.Rig(folder, ["git"], kind)


def test_the_python_shim_works_on_each_interpreter_it_may_get(tmp_path, monkeypatch):
    """On the system's Python, on our own, and on the whole library of our own where the small one does not do."""
    small, system = interpreter._small, interpreter.SYSTEM
    cases = [("a", system, small), ("b", tmp_path / "none", small), ("c", system, lambda program, home: None)]
    for name, first, how in cases:
        monkeypatch.setattr(interpreter, "_small", how)
        monkeypatch.setattr(interpreter.place, "__defaults__", (first,))
        rig = _rig(tmp_path / name, "python")
        libraries = list(rig.stage.scratch.glob("trace/python/lib*/python*/json"))
        assert bool(libraries) is (name == "c")
        assert rig.run("git --version").stdout.startswith(b"git version")
        assert [line["proven"] for line in rig.stop()] == [True]


def test_the_python_shim_starts_under_any_locale(tmp_path):
    """Its small library has a codec for whatever the locale's encoding is called; bytes of no encoding pass through."""
    rig = _rig(tmp_path, "python")
    program = next((rig.stage.scratch / "trace/python/bin").iterdir())
    code = "import codecs; print([codecs.lookup(n).name for n in ('UTF_8', 'iso-8859-15', 'EUC-JP')])"
    said = subprocess.run([program, "-ISc", code], capture_output=True, check=True, text=True).stdout
    assert said.split() == ["['utf-8',", "'iso8859-1',", "'iso8859-1']"]
    for name in ("C", "POSIX", "C.UTF-8", "no_SUCH.EUC-JP"):
        done = rig.run([f"{rig.shims}/git", b"log\xe9\xff"], env=rig.environment() | {"LC_ALL": name})
        assert b"log\xe9\xff" in done.stderr
    assert len(rig.stop()) == 4


@pytest.mark.parametrize("name", ["a b", "long" * 50])
def test_without_a_box_the_python_shim_starts_from_any_folder(tmp_path, name):
    """A script's first line is ended by a blank and cut at 255 bytes: there its interpreter lies in a short folder."""
    rig = _rig(tmp_path / name, "python")
    assert rig.run("git --version").stdout.startswith(b"git version")
    assert [line["proven"] for line in rig.stop()] == [True]


def test_what_a_killed_attempt_left_without_a_box_is_removed_by_the_next(tmp_path, monkeypatch):
    """Its short folder goes when nobody holds it; one in use, a fresh one and what is not ours stay."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, fresh, other = (tmp_path / n for n in (f"{short.PREFIX}left", f"{short.PREFIX}fresh", "ft-other"))
    for folder in (left, fresh, other):
        folder.mkdir()
        (folder / "trace.sock").touch()
    used = short.ShortFolder()
    for folder in (left, other, used.path):
        os.utime(folder, (0, 0))
    short.sweep()
    assert sorted(tmp_path.iterdir()) == sorted([fresh, other, used.path])
    used.close()
    assert not used.path.exists()
