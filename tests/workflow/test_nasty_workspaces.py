"""What an agent may leave behind: whatever it is, the attempt is sealed, graded, and in the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.lab import Lab

LITTER = r"""
import os, shutil, socket
def do(act):
    try:
        act()
    except OSError:
        pass
def giant():
    with open("giant", "wb") as f:
        f.truncate(5 << 30)
def lock():
    os.mkdir("locked")
    open("locked/x", "w").write("1")
    os.chmod("locked/x", 0)
    os.chmod("locked", 0)
def deep():
    here = os.getcwd()
    for _ in range(500):
        os.mkdir("d" * 10)
        os.chdir("d" * 10)
    os.chdir(here)
do(lambda: open("acceptance/planted.py", "w").write("x"))
do(lambda: os.rename("acceptance", "moved"))
do(lambda: shutil.rmtree(".git"))
do(lambda: os.mkdir(".git"))
do(lambda: open(".git/HEAD", "w").write("garbage"))
do(lambda: os.symlink("/etc/passwd", "passwd"))
do(lambda: os.symlink("loop", "loop"))
do(lambda: os.symlink("/", "root"))
do(lambda: os.mkfifo("fifo"))
do(lambda: socket.socket(socket.AF_UNIX).bind("socket"))
do(lambda: open(b"n\xff\xfe", "wb").write(b"\xff\x00"))
do(lambda: open("new\nline", "w").write("x"))
do(lambda: open("-rf", "w").write("x"))
do(lambda: open("sitecustomize.py", "w").write("raise SystemExit(9)"))
do(giant)
do(lock)
do(deep)
open("answer.txt", "w").write("42\n")
"""
AGENTS = {
    "litter": (["python3", "-I", "-c", LITTER], "green"),
    "locked": (["sh", "-c", "echo 42 > answer.txt; mkdir -p a/b; echo x > a/b/c; chmod 000 a/b/c a/b a ."], "green"),
    "gone": (["sh", "-c", "rm -rf .[!.]* *; true"], "red"),
    "pipe": (["sh", "-c", "mkfifo answer.txt"], "red"),
    "link": (["sh", "-c", "rm -rf .git; ln -s /etc .git; ln -s /proc/self/environ answer.txt"], "red"),
    "noise": (["sh", "-c", "echo 42 > answer.txt; head -c 2000000 /dev/urandom; kill -9 $$"], "agent_error"),
}


@pytest.mark.parametrize("isolation", ["auto", "none"])
def test_whatever_a_workspace_holds_is_graded(tmp_path: Path, isolation: str) -> None:
    """Links, pipes, sockets, locked and endless folders, names of any bytes, a giant, no .git: a verdict each."""
    harnesses = {
        name: {"adapter": "command", "free": True, "network": "none", "options": {"template": t, "output": "none"}}
        for name, (t, _) in AGENTS.items()
        if isolation == "auto" or name in ("litter", "locked", "gone")
    }
    config = {"harnesses": list(harnesses), "repetitions": 1, "isolation": isolation}
    lab = Lab(tmp_path, tasks=["one"], config=config, harnesses=harnesses)
    visible = tmp_path / "suites" / "tiny" / "one" / "acceptance" / "visible.txt"
    visible.parent.mkdir()
    visible.write_text("yes\n")
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    results = {r["harness"]: r for r in lab.graded()}
    assert {name: r["outcome"] for name, r in results.items()} == {name: AGENTS[name][1] for name in harnesses}
    assert "judged without 'giant': too large or unreadable" in results["litter"]["notes"]
    untouched = results["litter"]["performance"]["correctness"]["acceptance_untouched"]
    assert untouched is (isolation == "auto" and results["litter"]["isolation"]["backend"] != "plain")
    assert list((lab.results / "scratch").iterdir()) == []
    assert json.loads((lab.results / "default" / "dataset" / "problems.json").read_bytes())["problems"] == []


@pytest.mark.parametrize("isolation", ["auto", "none"])
def test_what_an_agent_leaves_at_home_is_gone_for_the_next(tmp_path: Path, isolation: str) -> None:
    """O25: what is planted in the home or temporary folder of one attempt is not there in another, box or no box."""
    plant = 'ls -A ~ "$TMPDIR" | grep planted; touch ~/.planted.cfg "$TMPDIR/planted" && echo 42 > answer.txt'
    options = {"template": ["sh", "-c", plant], "output": "none"}
    entry = {"adapter": "command", "free": True, "network": "none", "options": options}
    config = {"harnesses": ["planter"], "repetitions": 2, "isolation": isolation, "trace": []}
    lab = Lab(tmp_path, tasks=["one"], config=config, harnesses={"planter": entry})
    done = lab.snakemake("--until", "grade", "--cores", "1")
    assert done.returncode == 0, done.stderr
    assert [r["outcome"] for r in lab.graded()] == ["green"] * 2
    said = [p.read_bytes() for p in sorted(lab.results.glob("attempts/*/*/*/*/*/r*/agent-stdout.txt"))]
    assert said == [b"", b""]
