"""What a verifier says of a product."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def test_details_name_no_folder_of_one_grading(tmp_path: Path) -> None:
    """Two gradings of equal products in different folders give equal details: paths in them are those of the box."""
    said = []
    for name in ("first", "second"):
        folder = tmp_path / name
        (folder / "workspace").mkdir(parents=True)
        (folder / "verifier").mkdir()
        script = folder / "verifier" / "verify.py"
        script.write_text(
            "from fairtrial.verify import Verification\nv = Verification()\n"
            "@v.check('missing')\ndef missing(): (v.workspace / 'answer.txt').read_text()\n"
            "@v.check('copied')\ndef copied(): (v.copy() / 'answer.txt').read_text()\nv.finish()\n"
        )
        kept = {key: value for key, value in os.environ.items() if not key.startswith("FAIRTRIAL")}
        argv = [sys.executable, script, folder / "workspace", folder]
        done = subprocess.run(argv, capture_output=True, check=True, env=kept)
        said.append(json.loads(done.stdout)["checks"])
    assert said[0] == said[1]
    assert [check["passed"] for check in said[0]] == [False, False]
    assert all("'/task/answer.txt'" in check["detail"] for check in said[0])
