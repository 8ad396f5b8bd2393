"""Where a verifier is told what it looks at, and where its one report goes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

USAGE = 2  # exit status after a mistake on the command line


def read_settings() -> dict[str, Any]:
    """From the file named by FAIRTRIAL_VERIFY (the name is dropped, children need not know it), else from argv.

    Words on the command line that cannot be meant end the process with status 2.
    """
    name = os.environ.pop("FAIRTRIAL_VERIFY", None)
    os.environ.pop("FAIRTRIAL_NONCE", None)
    if name:
        settings: dict[str, Any] = json.loads(Path(name).read_bytes())
        return settings
    if len(sys.argv) not in (2, 3):
        _refuse(f"usage: {Path(sys.argv[0]).name} WORKSPACE [TASKFOLDER]")
    task = Path(sys.argv[2]) if len(sys.argv) == 3 else Path(sys.argv[0]).resolve().parent.parent
    for what, folder in (("workspace", Path(sys.argv[1])), ("task folder", task)):
        if not folder.is_dir():
            how = "is not a folder" if folder.exists() else "does not exist"
            _refuse(f"{Path(sys.argv[0]).name}: {what} {folder} {how}; usage: WORKSPACE [TASKFOLDER]")
    return {"workspace": str(Path(sys.argv[1]).resolve()), "task": str(task.resolve())}


def _refuse(why: str) -> NoReturn:
    sys.stderr.write(f"{why}\n")
    sys.exit(USAGE)


def report_channel(report: int | str | None) -> int:
    """The report's descriptor, not inherited by any child. Where it is stdout, later prints go to stderr instead."""
    if isinstance(report, str):
        return os.open(report, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    if report is not None and report != 1:
        os.set_inheritable(report, False)
        return report
    channel = os.dup(1)
    os.dup2(2, 1)
    return channel


def scratch_folder() -> Path:
    """A new private folder for copies of the workspace."""
    import tempfile

    return Path(tempfile.mkdtemp(prefix="verify-"))
