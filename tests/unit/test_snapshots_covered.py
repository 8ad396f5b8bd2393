"""What the agent put in the place of a folder that looks leave out."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from fairtrial.instruments.snapshots.export import Recording
from fairtrial.instruments.snapshots.instrument import Snapshots

from tests.snapshots_rig import stage_for, watching


def test_a_link_in_the_place_of_an_ignored_folder_hides_what_was_below(tmp_path: Path) -> None:
    """A look at which node_modules is a link, or its parent a file, is restored as it was, without the old folder."""
    stage = stage_for(tmp_path)
    for name in ("node_modules", "pkg/node_modules"):
        (stage.box.workspace / name).mkdir(parents=True)
        (stage.box.workspace / name / "lib").write_bytes(b"old")
    with watching(stage, Snapshots()) as root:
        shutil.rmtree(root / "node_modules")
        (root / "node_modules").symlink_to("elsewhere")
        shutil.rmtree(root / "pkg")
        (root / "pkg").write_bytes(b"a file")
        time.sleep(0.5)
        (root / "late").write_bytes(b"1")
    recording = Recording(stage.folder)
    trees = [recording.tree(look["tree"]) for look in recording.looks]
    assert any(b"late" not in tree and tree[b"pkg"][0] == "file" for tree in trees if b"pkg" in tree)
    for number, look in enumerate(recording.looks):
        into = tmp_path / f"look{number}"
        recording.restore(look["tree"], into)
        linked = b"node_modules" in trees[number]
        assert (into / "node_modules").is_symlink() == linked and (into / "node_modules" / "lib").exists() != linked
