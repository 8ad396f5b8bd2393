"""Every way a command's surroundings could notice the shim, against the bare command, for both shims."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from tests import trace_rig as rig_module

COMMANDS = ["cat", "head", "yes", "env", "ls", "sleep", "python3", "git", "bash", "probe", "plain"]
DATA = Path(__file__).resolve().parents[1] / "data" / "trace"
LINES = tomllib.loads((DATA / "conformance.toml").read_text())


@pytest.fixture(params=["compiled", "python"])
def rig(request, tmp_path):
    """A recorder with one of the two shims, and a few commands of our own."""
    if request.param == "compiled" and not (shutil.which("cc") or shutil.which("gcc")):
        pytest.skip("no C compiler")
    tools = tmp_path / "tools"
    tools.mkdir()
    shutil.copyfile(DATA / "probe", tools / "probe")
    (tools / "plain").write_text('echo plain $# "$2"\nexit 4\n')
    for path in tools.iterdir():
        path.chmod(0o755)
    made = rig_module.Rig(tmp_path, COMMANDS, request.param, [str(tools)])
    yield made
    made.stop()


def _fresh(rig):
    shutil.rmtree(rig.stage.box.workspace)
    rig.stage.box.workspace.mkdir()


@pytest.mark.parametrize("name", LINES)
def test_a_traced_command_cannot_be_told_from_the_bare_one(rig, name):
    """Output, error output and status of each line are the same with and without the shim."""
    bare = rig.run(LINES[name], shimmed=False)
    _fresh(rig)
    traced = rig.run(LINES[name])
    assert (traced.stdout, traced.stderr, traced.returncode) == (bare.stdout, bare.stderr, bare.returncode)
    assert rig.stop()


def _start(rig, argv, **options):
    return subprocess.Popen(
        argv, env=rig.environment(), cwd=rig.stage.box.workspace, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
        **options,
    )  # fmt: skip


def test_a_command_that_dies_by_a_signal_dies_by_it_for_its_caller(rig):
    """Not by a status of 128 and more, which a shell does not tell from it; also by what an interpreter ignores."""
    for number in (9, 10, 13, 15, 25, 31, 34, 64):
        assert rig.run([f"{rig.shims}/probe", "die", str(number)]).returncode == -number
    done = rig.run(f"ulimit -f 1; exec {rig.shims}/head -c 90000 /dev/zero > small")
    assert (done.returncode, done.stderr) == (-25, b"")


@pytest.mark.parametrize("leader", [False, True])
def test_signals_reach_the_command_and_its_end_reaches_the_caller(rig, leader):
    """USR1 is handled by the command, TERM ends it with the status it chose."""
    process = _start(rig, [f"{rig.shims}/probe", "traps"], start_new_session=leader)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGUSR1)
    assert process.stdout.readline() == b"got USR1\n"
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=5)[0] == b"got TERM\n"
    assert process.returncode == 9


def test_a_signal_to_the_group_arrives_once(rig):
    """kill(-group) reaches shim and command, and is counted once by the command."""
    script = (
        "import signal,sys,time\nn=[0]\ndef h(*a): n[0]+=1\nsignal.signal(signal.SIGUSR1,h)\n"
        "print('ready',flush=True)\nend=time.time()+1.5\nwhile time.time()<end: time.sleep(0.01)\nprint(n[0])"
    )
    process = _start(rig, ["/bin/bash", "-c", "trap '' USR1; trap : USR1; python3 -c \"$0\"; true", script],
                     start_new_session=True)  # fmt: skip
    assert process.stdout.readline() == b"ready\n"
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGUSR1)
    assert process.communicate(timeout=5)[0] == b"1\n"


def test_killing_the_shim_kills_the_command(rig):
    """SIGKILL to what the caller started ends the command too, as it would have without the shim."""
    process = _start(rig, [f"{rig.shims}/sleep", "30.123"])
    deadline = time.monotonic() + 5
    while not (child := _children(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=5)
    deadline = time.monotonic() + 2
    while Path(f"/proc/{child[0]}/exe").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{child[0]}/exe").exists()


def _children(pid: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_terminal_is_passed_through(rig):
    """On a terminal the command sees a terminal, and Ctrl-C ends it as it would end the bare command."""
    import pty

    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(rig.stage.box.workspace)
        code = "import os, signal, time; signal.signal(2, signal.SIG_DFL); "
        code += "print(os.isatty(1), os.isatty(2), flush=True); time.sleep(60)"
        os.execve("/bin/bash", ["bash", "-c", f"[ -t 1 ] && python3 -c '{code}'"], rig.environment())
    seen = b""
    while b"True True" not in seen:
        seen += os.read(fd, 100)
    time.sleep(0.2)
    os.write(fd, b"\x03")
    _, status = os.waitpid(pid, 0)
    os.close(fd)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT


def test_ctrl_z_stops_the_command_and_fg_continues_it(rig):
    """On a terminal the shell sees the same stop (148) as of the bare command, and the same end after fg."""
    import pty

    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(rig.stage.box.workspace)
        line = (
            "python3 -c 'import time; print(\"up\", flush=True); time.sleep(1)'; echo s$? >> seen; fg; echo s$? >> seen"
        )
        os.execve("/bin/bash", ["bash", "--norc", "-i", "-c", "set -m; " + line], rig.environment())
    seen = b""
    while b"up" not in seen:
        seen += os.read(fd, 100)
    os.write(fd, b"\x1a")
    os.waitpid(pid, 0)
    os.close(fd)
    assert (rig.stage.box.workspace / "seen").read_text() == "s148\ns0\n"


def test_the_command_goes_on_when_the_recorder_is_gone(rig):
    """A recorder that has ended costs the trace, never the command."""
    rig.stop()
    done = rig.run("git --version; echo $?; bash -c 'git --version'")
    assert done.stdout.startswith(b"git version") and b"\n0\n" in done.stdout and not done.stderr


def test_python_runs_a_virtual_environment(rig, tmp_path):
    """An interpreter reached by its name still finds its virtual environment."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "v"], check=True)
    other = rig_module.Rig(tmp_path / "second", ["python3"], rig.trace.facts()["shim"], [str(tmp_path / "v" / "bin")])
    done = other.run("python3 -c 'import sys; print(sys.prefix)'")
    assert done.stdout.decode().strip() == str(tmp_path / "v")
    assert [r["exit_status"] for r in other.stop()] == [0]
