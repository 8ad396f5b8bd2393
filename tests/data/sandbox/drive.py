"""Runs leaks.py in a box, as whoever runs this; prints what was seen inside and the report as one JSON line.

Arguments: a folder of this user's, the number of the bwrap candidate.
"""

import json
import os
import platform
import socket
import sys
from pathlib import Path

from fairtrial.contracts.lean import as_dict
from fairtrial.contracts.protocols import Bind, Box, Budget, Limits
from fairtrial.instruments.sandbox import backends, run, seccomp

folder, number = Path(sys.argv[1]), int(sys.argv[2])
for name in ("workspace/acceptance", "home", "acceptance", "verifier", "other"):
    (folder / name).mkdir(parents=True)
(folder / "acceptance/check.txt").write_text("acceptance\n")
(folder / "verifier/verify.py").write_text("secret\n")
leaks = Path(__file__).with_name("leaks.py")
hidden = [folder / "verifier", folder / "other", Path(os.path.expanduser("~")) / ".profile", Path(run.__file__)]
server = socket.create_server(("127.0.0.1", 0))
abstract = socket.socket(socket.AF_UNIX)
abstract.bind(f"\0leak-{os.getpid()}")
abstract.listen()
opened = []
asked = {
    "calls": seccomp.refused_calls(),
    "hidden": [str(path) for path in hidden],
    "port": server.getsockname()[1],
    "abstract": f"leak-{os.getpid()}",
    "endpoint": 18431,
    "processes": 40,
    "unshare": {"x86_64": 272, "aarch64": 97}[platform.machine()],
}
box = Box(
    folder / "workspace",
    folder / "home",
    ["python3", "/run/ft/leaks.py", json.dumps(asked)],
    {"HARNESS_OWN": "1"},
    b"the prompt",
    binds=[Bind(folder / "acceptance", "/task/acceptance"), Bind(leaks, "/run/ft/leaks.py")],
    network="endpoint",
    hidden=hidden,
    read_only=["/task/acceptance"],
    limits=Limits(tmp_bytes=64 << 20, file_bytes=32 << 20, processes=asked["processes"]),
)
report = run.run(
    box,
    Budget(60),
    stdout=folder / "out",
    stderr=folder / "err",
    times=folder / "times",
    policy="required",
    backend=backends.try_bwrap(backends.candidates()[number])[0],
    listener=(asked["endpoint"], opened.append),
)
seen = json.loads((folder / "out").read_text() or "{}")
workspace = sorted(str(path.relative_to(folder / "workspace")) for path in (folder / "workspace").rglob("*"))
said = {"seen": seen, "report": as_dict(report), "stderr": (folder / "err").read_text(), "workspace": workspace}
print(json.dumps(said | {"folder": str(folder), "listener": opened[0].getsockname()}))
