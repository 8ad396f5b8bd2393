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


def by_hand(tmp_path: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `program` as a verifier of `tmp_path`, its temporary files in tmp_path/temporary."""
    for name in ("workspace", "verifier", "temporary"):
        (tmp_path / name).mkdir(exist_ok=True)
    script = tmp_path / "verifier" / "verify.py"
    script.write_text(f"from fairtrial.verify import Verification\nv = Verification()\n{program}\n")
    kept = {key: value for key, value in os.environ.items() if not key.startswith("FAIRTRIAL")}
    kept["TMPDIR"] = str(tmp_path / "temporary")
    argv = [sys.executable, script, *words]
    return subprocess.run(argv, capture_output=True, check=False, env=kept, text=True, cwd=tmp_path)


def test_a_workspace_that_does_not_exist_is_a_usage_error(tmp_path: Path) -> None:
    """A mistyped folder, or a file in its place, is one line and status 2; no check is run on nothing."""
    for name, how in (("nosuch", "does not exist"), ("verifier/verify.py", "is not a folder")):
        done = by_hand(tmp_path, "v.finish()", name)
        want = f"verify.py: workspace {name} {how}; usage: WORKSPACE [TASKFOLDER]\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", want)
    done = by_hand(tmp_path, "v.finish()", "workspace", "nosuch")
    assert (done.returncode, "task folder nosuch does not exist" in done.stderr) == (2, True)


def test_a_verifier_without_finish_says_so(tmp_path: Path) -> None:
    """Where it ended by itself; a traceback speaks for itself. Neither leaves a folder behind."""
    said = "the verifier ended without v.finish(), which runs the checks and prints the report\n"
    done = by_hand(tmp_path, "v.copy()", "workspace")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", said)
    done = by_hand(tmp_path, "v.copy()\nraise KeyError('x')", "workspace")
    assert (done.returncode, said in done.stderr, "KeyError: 'x'" in done.stderr) == (1, False, True)
    done = by_hand(tmp_path, "v.finish()", "workspace")
    assert (done.returncode, done.stderr) == (0, "")
    assert list((tmp_path / "temporary").iterdir()) == []
