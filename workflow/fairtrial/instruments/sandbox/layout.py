"""What a box shows its process: the file system as bubblewrap options, the environment, synthetic /etc files."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from fairtrial.contracts.protocols import RUN, Bind, Box

TOOLS = f"{RUN}/bin"  # python3 and python, always
MARKER = TOOLS  # exists in every finished box
SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
_OWNER = "--die-with-parent --new-session --unshare-user --uid 1000 --gid 1000"
_NAMESPACES = "--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --hostname bench"
# At the end: nothing can be planted beside the links to python, and no tmpfs without a size is left to fill.
_SEALED = "--remount-ro /proc --remount-ro /dev --remount-ro /run --remount-ro /"
_LINKED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC_SHOWN = ("/etc/alternatives", "/etc/ld.so.cache")  # `awk`, `cc` and libraries below /usr/local need them
_CERTIFICATES = ("/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/etc/ca-certificates")
KERNEL_FILES = ("/proc/sys", "/proc/sysrq-trigger", "/proc/mtrr")
_SMALL, _MOST_SHARED = 64 << 20, 1 << 30


def interpreter() -> Path:
    """The real file of the Python that runs fairtrial, outside any virtual environment."""
    return Path(getattr(sys, "_base_executable", "") or sys.executable).resolve()


def interpreter_folder() -> Path:
    """The folder it needs: sys.base_prefix."""
    return Path(sys.base_prefix).resolve()


def environment(box: Box) -> dict[str, str]:
    """The whole environment of the boxed process: a fixed base and what the box asks for. Nothing is inherited."""
    base = {
        "HOME": box.home_target, "USER": "agent", "LOGNAME": "agent", "LANG": "C.UTF-8", "TERM": "dumb",
        "TMPDIR": "/tmp",  # noqa: S108 - a file system of the box
        "SHELL": "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh", "NO_COLOR": "1",
        "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": f"{box.home_target}/.gitconfig",
        "PYTHONDONTWRITEBYTECODE": "1", "PATH": ":".join((*box.path, TOOLS, *SYSTEM_PATH)),
    }  # fmt: skip
    return {**base, **box.env}


def etc_files(box: Box) -> dict[str, bytes]:
    """The synthetic files below /etc. With the host's network also its names, otherwise none but localhost."""
    shell = environment(box)["SHELL"]
    home = box.home_target
    files = {
        "/etc/passwd": f"root:x:0:0:root:/:/bin/sh\nagent:x:1000:1000:agent:{home}:{shell}\n".encode(),
        "/etc/group": b"root:x:0:\nagent:x:1000:\n",
        "/etc/hosts": b"127.0.0.1 localhost bench\n::1 localhost\n",
        "/etc/resolv.conf": b"",
    }
    if box.network == "host":
        files["/etc/nsswitch.conf"] = b"passwd: files\ngroup: files\nhosts: files dns\n"
        for name in ("/etc/hosts", "/etc/resolv.conf"):
            files[name] = Path(name).read_bytes() if Path(name).is_file() else files[name]
    return files


def _system() -> list[str]:
    options = ["--ro-bind", "/usr", "/usr"]
    for name in _LINKED:
        path = Path("/") / name
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            options += ["--ro-bind", str(path), str(path)]
    for name in ("/nix/store", *_ETC_SHOWN):
        if Path(name).exists():
            options += ["--ro-bind", name, name]
    return options


def _kernel_files() -> list[str]:
    """Run by root, the agent is the owner of the kernel's settings (core_pattern is a way out): read-only for all."""
    return [word for path in KERNEL_FILES if Path(path).exists() for word in ("--ro-bind", path, path)]


def _python() -> list[str]:
    folder, program = interpreter_folder(), interpreter()
    options = []
    if not folder.is_relative_to("/usr"):
        options += ["--ro-bind", str(folder), str(folder)]
    # An installation without a virtual environment carries this package, and with it verifiers and solutions.
    package = Path(__file__).resolve().parents[2]
    if package.is_relative_to("/usr") or package.is_relative_to(folder):
        options += ["--size", "4096", "--tmpfs", str(package), "--remount-ro", str(package)]
    return [*options, "--symlink", str(program), f"{TOOLS}/python3", "--symlink", str(program), f"{TOOLS}/python"]


def _mount(bind: Bind) -> list[str]:
    return ["--bind" if bind.writable else "--ro-bind", str(bind.source), bind.target]


def _binds(box: Box, workspace: str, home: str | None) -> list[str]:
    def inner(bind: Bind) -> bool:
        return any(Path(bind.target).is_relative_to(top) for top in (box.workspace_target, box.home_target))

    options = [word for bind in box.binds if not inner(bind) for word in _mount(bind)]
    if home is None:
        options += ["--size", str(box.limits.tmp_bytes), "--tmpfs", box.home_target]
    else:
        options += ["--bind", home, box.home_target]
    options += ["--bind", workspace, box.workspace_target]
    return options + [word for bind in box.binds if inner(bind) for word in _mount(bind)]


def options(box: Box, fds: Mapping[str, int], *, disable_userns: bool, here: bool = False) -> list[str]:
    """The bubblewrap options of `box`. `fds`: descriptor of each etc file, by path. `here`: the current folder is
    the workspace and HOME is an empty tmpfs, for launchers that are started by someone else."""
    words = _OWNER.split()
    words += ["--disable-userns"] if disable_userns else []
    words += _NAMESPACES.split()
    words += [] if box.network == "host" else ["--unshare-net"]
    words += ["--clearenv"]
    for name, value in environment(box).items():
        words += ["--setenv", name, value]
    words += _system()
    if box.network == "host":
        words += [word for path in _CERTIFICATES if Path(path).exists() for word in ("--ro-bind", path, path)]
    for path, fd in fds.items():
        words += ["--perms", "0444", "--file", str(fd), path]
    room = box.limits.tmp_bytes
    words += ["--proc", "/proc", *_kernel_files()]
    words += f"--dev /dev --size {min(room, _MOST_SHARED)} --tmpfs /dev/shm".split()
    words += f"--perms 1777 --size {room} --tmpfs /tmp --symlink /tmp /var/tmp".split()
    words += [*f"--size {_SMALL} --tmpfs /run".split(), *_python()]
    words += _binds(box, "." if here else str(box.workspace), None if here else str(box.home))
    words += _SEALED.split()
    return [*words, "--chdir", box.workspace_target]
