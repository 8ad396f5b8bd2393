"""The instrument at work: what it sees of a workspace that changes under it, and what it leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.protocols import Instrument
from fairtrial.contracts.records import load
from fairtrial.instruments.snapshots.export import Recording, restore_at
from fairtrial.instruments.snapshots.instrument import Snapshots
from fairtrial.instruments.snapshots.store import Caps
from fairtrial.instruments.snapshots.watch import Files, Inotify, Polling, Watcher

from tests.snapshots_rig import contents, stage_for, watching

WATCHERS: dict[str, Callable[[Path, frozenset[str]], Watcher]] = {
    **({"inotify": lambda root, ignore: Inotify(ignore)} if sys.platform == "linux" else {}),
    "watchfiles": Files,
    "polling": lambda root, ignore: Polling(),
}


@pytest.mark.parametrize("kind", WATCHERS)
def test_every_state_that_lasts_is_seen(tmp_path: Path, kind: str) -> None:
    """Each way of watching sees a new folder, an edit, a rename and a deletion that stand for a while, in order."""
    stage = stage_for(tmp_path)
    with watching(stage, Snapshots(watcher=WATCHERS[kind])) as root:
        (root / "new" / "sub").mkdir(parents=True)
        (root / "new" / "sub" / "f").write_bytes(b"1")
        time.sleep(0.45)
        (root / "new" / "sub" / "f").write_bytes(b"2")
        time.sleep(0.45)
        (root / "new" / "sub" / "f").unlink()
        time.sleep(0.45)
    recording = Recording(stage.folder)
    assert contents(recording, b"new/sub/f") == [None, b"1", b"2", None]
    standing = {look["tree"] for look in recording.looks if look["settled"]}
    assert len(standing) == 4


def test_a_change_is_seen_soon(tmp_path: Path) -> None:
    """From a single change to its snapshot it takes less than the debounce of 100 ms and some."""
    stage = stage_for(tmp_path)
    with watching(stage, Snapshots()) as root:
        time.sleep(0.05)
        written = time.monotonic_ns()
        began = time.monotonic_ns()
        (root / "f").write_bytes(b"1")
        time.sleep(0.4)
    look = next(look for look in Recording(stage.folder).looks if look["reason"] == "change")
    assert look["at_ns"] < (written - began) + 350_000_000


def test_the_records_are_valid_and_the_patch_is_there(tmp_path: Path) -> None:
    """snapshots.json holds to its schema, workspace.patch is what its figures say, facts are JSON."""
    stage = stage_for(tmp_path)
    (stage.box.workspace / "f").write_bytes(b"1\n")
    snapshots = Snapshots()
    as_instrument: Instrument = snapshots
    with watching(stage, snapshots) as root:
        (root / "f").write_bytes(b"2\n")
        time.sleep(0.15)
        assert snapshots.capture_now("command", span="s1")
    record = load(stage.folder / "snapshots.json", "snapshots")
    patch = (stage.folder / "workspace.patch").read_bytes()
    assert record["patch"]["bytes"] == len(patch)
    assert (record["patch"]["lines_added"], record["patch"]["lines_removed"]) == (1, 1)
    assert [look["span"] for look in record["looks"] if look["reason"] == "command"] == ["s1"]
    assert (record["looks"][0]["reason"], record["looks"][0]["at_ns"]) == ("start", 0)
    assert record["looks"][-1]["reason"] == "end"
    facts = json.loads(json.dumps(as_instrument.facts()))
    assert (facts["end_tree"], facts["errors"]) == (record["end"], 0)
    assert sorted(p.name for p in stage.folder.iterdir()) == ["snapshots", "snapshots.json", "workspace.patch"]


def test_what_was_missed_by_a_failed_look_is_seen_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look that fails is counted, and the change it was for is not lost although its event is used up."""
    stage = stage_for(tmp_path)
    snapshots = Snapshots()

    def fails(*_: object, **__: object) -> str:
        raise OSError("no more descriptors")

    with watching(stage, snapshots) as root:
        with monkeypatch.context() as broken:
            broken.setattr(snapshots._store, "capture", fails)
            (root / "f").write_bytes(b"1")
            assert snapshots.capture_now() is None
        assert snapshots.capture_now()
        assert b"f" in snapshots._store.tree(snapshots.looks[-1]["tree"])  # type: ignore[union-attr]
    assert snapshots.facts()["errors"] >= 1


def test_the_end_of_a_command_is_a_look_of_its_own(tmp_path: Path) -> None:
    """States shorter than any debounce are kept when a traced command ends in them; an idle command costs no walk."""
    stage = stage_for(tmp_path)
    snapshots = Snapshots()
    with watching(stage, snapshots) as root:
        trees = []
        for i in range(10):
            (root / "f").write_bytes(b"%d" % i)
            trees.append(snapshots.capture_now("command", span=str(i)))
        walks = len(snapshots._took)
        again = snapshots.capture_now("command", span="idle")
        assert len(snapshots._took) == walks
    assert len(set(trees)) == 10
    assert again == trees[-1]
    assert snapshots.capture_now() is None
    recording = Recording(stage.folder)
    assert contents(recording, b"f")[-10:] == [b"%d" % i for i in range(10)]
    looks = [look for look in recording.looks if look["reason"] == "command"]
    assert [look["at_ns"] for look in looks] == sorted(look["at_ns"] for look in looks)


def test_looks_at_commands_stay_within_their_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past their share of the time, looks at command ends are skipped and counted; the change is still seen."""
    monkeypatch.setattr("fairtrial.instruments.snapshots.instrument._COMMANDS_FREE_NS", 0)
    monkeypatch.setattr("fairtrial.instruments.snapshots.instrument._COMMANDS_SHARE", 0.0)
    stage = stage_for(tmp_path)
    snapshots = Snapshots()
    with watching(stage, snapshots) as root:
        (root / "f").write_bytes(b"1")
        snapshots.capture_now()
        assert snapshots.capture_now() is None
    assert snapshots.facts()["command_looks_skipped"] >= 1
    assert contents(Recording(stage.folder), b"f") == [None, b"1"]


def test_a_slow_write_gives_unsettled_trees_and_a_settled_last_one(tmp_path: Path) -> None:
    """A file written in pieces 30 ms apart is seen half-written, and none of those trees counts as standing."""
    stage = stage_for(tmp_path)
    with watching(stage, Snapshots()) as root:
        with (root / "big").open("wb", buffering=0) as stream:
            for _ in range(25):
                stream.write(b"x" * 1000)
                time.sleep(0.03)
        time.sleep(0.4)
    looks = Recording(stage.folder).looks
    half = [look for look in looks if look["reason"] == "change"]
    assert len(half) >= 3
    assert not any(look["settled"] for look in half[:-1])
    assert half[-1]["settled"]


def test_ignored_folders_of_the_start_lie_under_every_look(tmp_path: Path) -> None:
    """A shipped node_modules is not watched, yet every restored look has it; the end has it as it became."""
    stage = stage_for(tmp_path, ignore=("generated",))
    root = stage.box.workspace
    for name in ("node_modules", "generated"):
        (root / name).mkdir()
        (root / name / "lib").write_bytes(b"old")
    with watching(stage, Snapshots()) as root:
        (root / "node_modules" / "lib").write_bytes(b"new")
        (root / "f").write_bytes(b"1")
        time.sleep(0.3)
    recording = Recording(stage.folder)
    middle = next(look for look in recording.looks if look["reason"] == "change")
    recording.restore(middle["tree"], tmp_path / "middle")
    restore_at(stage.folder, "end", tmp_path / "end")
    assert (tmp_path / "middle" / "node_modules" / "lib").read_bytes() == b"old"
    assert (tmp_path / "middle" / "generated" / "lib").read_bytes() == b"old"
    assert (tmp_path / "end" / "node_modules" / "lib").read_bytes() == b"new"


def test_a_repository_in_the_workspace_is_kept_and_its_state_recorded(tmp_path: Path) -> None:
    """With a .git at the start, looks hold it, refs, HEAD and index stand beside the tree, the patch leaves it out."""
    stage = stage_for(tmp_path)
    root = stage.box.workspace
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    env |= {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(*argv: str) -> str:
        return subprocess.run(
            ["git", *argv], cwd=root, env=env, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q", "-b", "main")
    (root / "f").write_bytes(b"1\n")
    git("add", "f")
    git("commit", "-qm", "one")
    first = git("rev-parse", "HEAD")
    snapshots = Snapshots()
    with watching(stage, snapshots):
        (root / "f").write_bytes(b"2\n")
        git("commit", "-qam", "two")
        git("pack-refs", "--all")
        git("checkout", "-qb", "topic")
        second = git("rev-parse", "HEAD")
    record = load(stage.folder / "snapshots.json", "snapshots")
    start, end = (record["repositories"][record["looks"][i]["repository"]] for i in (0, -1))
    assert (start["head"], start["refs"]) == ("ref: refs/heads/main", {"refs/heads/main": first})
    assert (end["head"], end["refs"]["refs/heads/topic"], end["refs"]["refs/heads/main"]) == (
        "ref: refs/heads/topic", second, second,
    )  # fmt: skip
    assert start["index_sha256"] != end["index_sha256"]
    assert b".git" not in (stage.folder / "workspace.patch").read_bytes()
    restore_at(stage.folder, "end", tmp_path / "out")
    out = subprocess.run(["git", "fsck"], cwd=tmp_path / "out", env=env, check=False, capture_output=True)
    assert out.returncode == 0, out.stderr


def test_a_link_out_of_the_workspace_is_neither_followed_nor_watched(tmp_path: Path) -> None:
    """Links to / at the start and later cost nothing and bring nothing in."""
    stage = stage_for(tmp_path)
    (stage.box.workspace / "root").symlink_to("/")
    snapshots = Snapshots()
    began = time.monotonic()
    with watching(stage, snapshots) as root:
        (root / "more").symlink_to("/usr")
        time.sleep(0.2)
    assert time.monotonic() - began < 2
    assert set(Recording(stage.folder).tree(snapshots.end_tree or "")) == {b"root", b"more"}


def test_the_mount_point_that_appears_at_the_start_is_no_change(tmp_path: Path) -> None:
    """The empty folder that the sandbox leaves for acceptance/ makes no new tree."""
    stage = stage_for(tmp_path, binds=("/task/acceptance", "/usr"))
    snapshots = Snapshots()
    with watching(stage, snapshots) as root:
        (root / "acceptance").mkdir()
        time.sleep(0.2)
    assert snapshots.start_tree == snapshots.end_tree


def test_a_full_pack_ends_the_looks_but_not_the_end_tree(tmp_path: Path) -> None:
    """Past the size cap looks stop and say so; the end tree is whole all the same."""
    stage = stage_for(tmp_path)
    snapshots = Snapshots(Caps(file=1 << 20, pack=30_000))
    with watching(stage, snapshots) as root:
        for i in range(4):
            (root / "f").write_bytes(os.urandom(20_000))
            (root / "n").write_bytes(b"%d" % i)
            snapshots.capture_now()
    record = load(stage.folder / "snapshots.json", "snapshots")
    assert record["capped"]
    recording = Recording(stage.folder)
    assert recording.incomplete(recording.end) == []
    recording.restore(recording.end, tmp_path / "out")
    assert (tmp_path / "out" / "n").read_bytes() == b"3"


def test_stop_is_safe_when_little_happened_before(tmp_path: Path) -> None:
    """stop without prepare, without start, and twice: no error and no files of an attempt that never ran."""
    stage = stage_for(tmp_path)
    Snapshots().stop(stage)
    prepared = Snapshots()
    prepared.prepare(stage)
    prepared.stop(stage)
    prepared.stop(stage)
    assert not (stage.folder / "snapshots.json").exists()
    assert prepared.facts()["end_tree"] is None


def test_restore_at_knows_its_moments(tmp_path: Path) -> None:
    """start, end, SECONDS and first-green give their trees; anything else is one clear error."""
    stage = stage_for(tmp_path)
    snapshots = Snapshots()
    with watching(stage, snapshots) as root:
        (root / "f").write_bytes(b"1")
        middle = snapshots.capture_now()
        time.sleep(0.3)
        (root / "f").write_bytes(b"2")
    assert restore_at(stage.folder, "0.25", tmp_path / "a") == middle
    assert (tmp_path / "a" / "f").read_bytes() == b"1"
    assert restore_at(stage.folder, "start", tmp_path / "b") == snapshots.start_tree
    assert restore_at(stage.folder, "99s", tmp_path / "c") == snapshots.end_tree
    with pytest.raises(UserError, match="not graded"):
        restore_at(stage.folder, "first-green", tmp_path / "d")
    with pytest.raises(UserError, match="give first-green, start, end"):
        restore_at(stage.folder, "noon", tmp_path / "d")
    grade = stage.folder / "grades" / "g"
    grade.mkdir(parents=True)
    for upper, reason in ((0.2, None), (None, "never green")):
        first = {"upper_seconds": upper, "reason": reason, "tree": middle if upper else None}
        (grade / "result.json").write_text(json.dumps({"performance": {"time_cost": {"first_green": first}}}))
        if upper:
            assert restore_at(stage.folder, "first-green", tmp_path / "d") == middle
        else:
            with pytest.raises(UserError, match="never green"):
                restore_at(stage.folder, "first-green", tmp_path / "e")
