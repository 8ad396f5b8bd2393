"""The Python of judging boxes: this machine's interpreter and packages, without what the machine runs at every start.

Files named *.pth in an interpreter's site-packages hold code that runs whenever Python starts. On some machines that
takes four times as long as the start itself, and it is nothing a verdict may depend on. In a judging box the links to
Python therefore stand in a virtual environment without packages of its own, whose one .pth file names the folders
where the machine's packages are: they import as ever, their .pth files are not read.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fairtrial.contracts.protocols import RUN, Bind
from fairtrial.instruments.sandbox import layout

_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
# Below an interpreter's prefix; Debian's own Python keeps packages in dist-packages.
_PACKAGES = (
    f"lib/{_VERSION}/site-packages",
    f"lib64/{_VERSION}/site-packages",
    f"local/lib/{_VERSION}/dist-packages",
    "lib/python3/dist-packages",
)


def binds(folder: Path) -> list[Bind]:
    """Binds that make layout.TOOLS such an environment; their files are written to `folder`, a new one."""
    prefix = layout.interpreter_folder()
    packages = [path for path in (prefix / name for name in _PACKAGES) if path.is_dir() and not path.is_symlink()]
    folder.mkdir(parents=True)
    (folder / "site").mkdir()
    (folder / "site" / "machine.pth").write_text("".join(f"{path}\n" for path in packages), encoding="utf-8")
    said = f"home = {layout.interpreter().parent}\ninclude-system-site-packages = false\n"
    (folder / "pyvenv.cfg").write_text(said, encoding="utf-8")
    return [
        Bind(folder / "pyvenv.cfg", f"{RUN}/pyvenv.cfg"),
        Bind(folder / "site", f"{RUN}/lib/{_VERSION}/site-packages"),
    ]
