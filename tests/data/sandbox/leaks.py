"""Runs inside the box and tries every way out that is known; prints what it found as one JSON line."""

import ctypes
import errno
import json
import os
import resource
import socket
import subprocess
import sys

asked = json.loads(sys.argv[1])
found = {}


def refused(action):
    """The name of the error `action` ends with, None where it worked."""
    try:
        action()
    except OSError as problem:
        return errno.errorcode.get(problem.errno, str(problem))
    return None


def text(path):
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "replace")


def connect(family, kind, address):
    with socket.socket(family, kind) as one:
        one.settimeout(1)
        one.connect(address)


def call(number, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(ctypes.c_long(number), *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")


def write(path, flags=os.O_WRONLY | os.O_CREAT):
    os.close(os.open(path, flags, 0o600))


def status(command):
    return subprocess.run(command, shell=True, capture_output=True, text=True).stderr.strip().rpartition(": ")[2]


def forks(limit):
    """How many children can be had at once."""
    children = []
    try:
        for _ in range(limit):
            pid = os.fork()
            if pid == 0:
                os.close(hold[1])
                os.read(hold[0], 1)
                os._exit(0)
            children.append(pid)
    except OSError:
        pass
    finally:
        os.close(hold[1])
        for pid in children:
            os.waitpid(pid, 0)
    return len(children)


found["pid1_environment"] = text("/proc/1/environ")
found["pid1_command"] = text("/proc/1/cmdline").split("\0")
found["environment"] = dict(os.environ)
found["reopen_stdout"] = [refused(lambda p=p: write(f"/proc/{p}/fd/1", os.O_WRONLY)) for p in ("1", "self")]
found["calls"] = {name: refused(lambda n=n: call(n, 0, 0, 0, 0, 0)) for name, n in asked["calls"].items()}
found["ptrace"] = refused(lambda: call(asked["calls"]["ptrace"], 0x4206, 1, 0, 0))  # PTRACE_SEIZE of pid 1
found["memory"] = [refused(lambda p=p: write(f"/proc/{p}/mem", os.O_RDWR)) for p in ("1", "self", os.getppid())]
found["etc"] = sorted(os.listdir("/etc"))
found["shadow"] = refused(lambda: text("/etc/shadow"))
found["processes"] = [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in (1, os.getpid())]
found["root_entries"] = sorted(os.listdir("/"))
found["plant"] = {p: refused(lambda p=p: write(f"{p}/planted")) for p in ("", "/run", "/run/ft/bin", "/dev", "/usr/bin")}
found["kernel"] = [
    os.path.join(top, name) for top, _, names in os.walk("/proc/sys") for name in names if os.access(os.path.join(top, name), os.W_OK)
]
found["acceptance"] = {
    command: status(command)
    for command in (
        "echo x >> acceptance/check.txt", "sed -i s/a/b/ acceptance/check.txt", "rm -f acceptance/check.txt",
        "chmod 777 acceptance/check.txt", "mv acceptance elsewhere", "rm -rf acceptance",
    )
}
found["acceptance_text"] = text("acceptance/check.txt")
found["writable"] = [refused(lambda p=p: write(p)) for p in ("new.txt", os.path.expanduser("~/new.txt"), "/tmp/new.txt", "/dev/shm/new")]
found["hidden"] = {p: refused(lambda p=p: os.stat(p)) for p in asked["hidden"]}
found["network"] = {
    "tcp": refused(lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 80))),
    "udp": refused(lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 53))),
    "host": refused(lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", asked["port"]))),
    "abstract": refused(lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + asked["abstract"])),
}
found["endpoint"] = refused(lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", asked["endpoint"])))
found["sizes"] = {p: os.statvfs(p).f_blocks * os.statvfs(p).f_frsize for p in ("/tmp", "/dev/shm", "/run")}
found["file_bytes"] = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
found["core"] = resource.getrlimit(resource.RLIMIT_CORE)[0]
found["user_namespace"] = refused(lambda: call(asked["unshare"], 0x10000000))
found["terminal"] = refused(lambda: write("/dev/tty", os.O_RDWR))
found["session"] = os.getsid(0)
found["uid"] = [os.getuid(), os.getgid()]
found["stdin"] = sys.stdin.read()
found["python"] = subprocess.run("python -c 'import sys; print(sys.version_info[:2])'; command -v python3", shell=True, capture_output=True, text=True).stdout.split("\n")
hold = os.pipe()
found["children"] = forks(asked["processes"] * 3)
print(json.dumps(found), flush=True)
