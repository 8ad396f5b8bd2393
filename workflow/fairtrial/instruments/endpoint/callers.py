"""Who calls: the agent program's main process, or another one in its box."""

from __future__ import annotations

from pathlib import Path

_LOOPBACK = ("0100007F", "0000000000000000FFFF00000100007F")  # 127.0.0.1, as itself and mapped into IPv6


def from_main(main: int, peer_port: int, our_port: int) -> bool | None:
    """Is the socket 127.0.0.1:peer_port -> 127.0.0.1:our_port one of process `main`'s? None: cannot be told.

    /proc/MAIN/net is the network namespace of the box, so a port is looked up where the caller lives.
    """
    inode = _inode(main, peer_port, our_port)
    if inode is None:
        return None
    wanted = f"socket:[{inode}]"
    try:
        held = list(Path(f"/proc/{main}/fd").iterdir())
    except OSError:
        return None
    return any(_link(fd) == wanted for fd in held)


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


def _inode(main: int, peer_port: int, our_port: int) -> str | None:
    ends = {(f"{address}:{peer_port:04X}", f"{address}:{our_port:04X}") for address in _LOOPBACK}
    for table in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/{main}/net/{table}").read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if (fields[1], fields[2]) in ends and fields[9] != "0":
                return fields[9]
    return None
