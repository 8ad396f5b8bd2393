"""What documents say is what happens: their code blocks are run, and docs/tasks.md is what the packages say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["docs/add-a-task.md", "skills/fairtrial/SKILL.md"])
def test_code_blocks_run(tmp_path: Path, name: str) -> None:
    """Every sh block of the document, in order, in one empty folder; a command that fails ends it."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (CHECKOUT / name).read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    # A command after `!` must fail; `set -e` alone would not notice that it does not.
    script = re.sub(
        r"^! (.*)$", r"if \1; then echo 'should have failed: \1' >&2; exit 1; fi", "\n".join(blocks), flags=re.M
    )
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("FAIRTRIAL_", "COV_"))}
    folders = f"{Path(sys.executable).parent}:{kept['PATH']}"
    environment = {**kept, "FAIRTRIAL": str(CHECKOUT), "PATH": folders, "PYTHONPATH": str(CHECKOUT / "workflow")}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_every_fence_is_run() -> None:
    """No block of the two documents is of a kind that the test above would leave out."""
    for name in ("docs/add-a-task.md", "skills/fairtrial/SKILL.md"):
        fences = re.findall(r"^```(.*)$", (CHECKOUT / name).read_text(encoding="utf-8"), re.M)
        assert set(fences) == {"sh", ""}, name


def test_the_list_of_tasks_is_the_packages() -> None:
    """docs/tasks.md is what .ci/tasks_md.py makes of tasks/ now."""
    spec = spec_from_file_location("tasks_md", CHECKOUT / ".ci" / "tasks_md.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    want = made.page(CHECKOUT / "tasks")
    assert (CHECKOUT / "docs" / "tasks.md").read_text(encoding="utf-8") == want, (
        "python .ci/tasks_md.py > docs/tasks.md"
    )


def test_every_task_names_only_programs_its_readers_can_look_up() -> None:
    """`requires` holds bare program names: they are looked up on PATH."""
    from fairtrial.plan import tasks

    for name, folder in tasks.discover([CHECKOUT / "tasks"]).items():
        for program in tasks.read(name, folder).settings["requires"]:
            assert re.fullmatch(r"[a-z0-9._+-]+", program), (name, program)
