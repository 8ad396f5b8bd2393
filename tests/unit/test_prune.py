"""Pruning and measuring a results tree, on attempts built by hand around real snapshot packs."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from fairtrial.capture.spend.leases import identity
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import load, mismatches, pruned_of
from fairtrial.instruments.snapshots.export import Recording
from fairtrial.instruments.snapshots.store import Store
from fairtrial.paths import Results
from fairtrial.upkeep import du, prune

ID = "suite/task/alder/m-large/0123456789ab/r1"


def attempt(root: Path, key: str = ID, *, graded: bool = True) -> Path:
    """A sealed attempt of five looks, whose workspace grows from start to end."""
    folder = root / "attempts" / key
    (folder / "command-output").mkdir(parents=True)
    (folder / "command-output" / "s1.out").write_bytes(b"printed\n" * 100)
    (folder / "agent-stdout.txt").write_text("{}\n")
    work, store, looks = root.parent / "work" / key.replace("/", "-"), Store(folder / "snapshots"), []
    work.mkdir(parents=True)
    for number in range(5):
        (work / "file.txt").write_bytes(hashlib.sha256(b"%d" % number).digest() * 1000 * (number % 4 + 1))
        looks.append({"at_ns": number * 10**9, "tree": store.capture(work), "reason": "change"})
    store.close()
    record = {"schema_version": 1, "start": looks[0]["tree"], "end": looks[-1]["tree"], "base": None, "looks": looks}
    (folder / "snapshots.json").write_text(json.dumps(record))
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    sealed = {str(p.relative_to(folder)): {"sha256": hashlib.sha256(p.read_bytes()).hexdigest(),
                                            "bytes": p.stat().st_size} for p in files}  # fmt: skip
    (folder / "evidence.json").write_text(json.dumps({"attempt_id": key, "files": sealed}))
    (folder / "sealed").write_text("seal\n")
    if graded:
        (folder / "grades" / "abcdef012345").mkdir(parents=True)
        (folder / "grades" / "abcdef012345" / "result.json").write_text(judged("passed"))
    return folder


def judged(verdict: str) -> str:
    """A result, as far as pruning reads it."""
    return json.dumps({"performance": {"correctness": {"verdict": verdict}}})


def wrong(folder: Path) -> list[str]:
    """What verification says of the seal."""
    return mismatches(folder, load(folder / "evidence.json")["files"], *pruned_of(folder))


def test_what_is_dropped_is_named_and_the_rest_stays(tmp_path: Path) -> None:
    """Command output and the three trees in between go; seal, result, transcript, start and end stay and verify."""
    folder = attempt(tmp_path / "results")
    kept = {name: (folder / name).read_bytes() for name in ("evidence.json", "sealed", "agent-stdout.txt")}
    size = (folder / "snapshots/pack").stat().st_size
    done = prune.prune(Results(tmp_path / "results"))
    assert (done.attempts, done.files, done.trees) == (1, 1, 3)
    record = load(folder / "pruned.json", "pruned")
    assert record["files"] == ["command-output/s1.out"]
    assert len(record["trees"]) == 3
    assert len(record["lost"]) == 2
    assert (folder / "snapshots/pack").stat().st_size < size
    assert {name: (folder / name).read_bytes() for name in kept} == kept
    assert wrong(folder) == []
    recording = Recording(folder)
    assert [look["tree"] for look in recording.looks] == [recording.start, recording.end]
    for number, tree in enumerate((recording.start, recording.end)):
        recording.restore(tree, tmp_path / f"restored{number}")
    recording.close()
    assert (tmp_path / "restored0/file.txt").read_bytes() == hashlib.sha256(b"0").digest() * 1000
    assert (tmp_path / "restored1/file.txt").read_bytes() == hashlib.sha256(b"4").digest() * 1000


def test_a_pruned_moment_says_so(tmp_path: Path) -> None:
    """Asking for a snapshot that was dropped is one clear line, never another tree."""
    folder = attempt(tmp_path / "results")
    prune.prune(Results(tmp_path / "results"))
    recording = Recording(folder)
    with pytest.raises(UserError, match="was pruned"):
        recording.restore(recording.at(2.5), tmp_path / "restored")
    recording.close()


def test_damage_after_pruning_still_shows(tmp_path: Path) -> None:
    """A changed byte in the rewritten pack, or a kept file that is gone, is damage; such an attempt is left alone."""
    folder = attempt(tmp_path / "results")
    prune.prune(Results(tmp_path / "results"))
    pack = bytearray((folder / "snapshots/pack").read_bytes())
    pack[-1] ^= 1
    (folder / "snapshots/pack").write_bytes(pack)
    assert wrong(folder) == ["snapshots/pack was changed"]
    (folder / "agent-stdout.txt").unlink()
    assert "agent-stdout.txt is missing" in wrong(folder)
    again = prune.prune(Results(tmp_path / "results"), streams=True)
    assert again.attempts == 0
    assert "damaged" in again.skipped[ID]


def test_a_second_time_drops_nothing_and_streams_are_asked_for(tmp_path: Path) -> None:
    """Pruning twice is pruning once; --streams then adds the transcript to the same record."""
    folder = attempt(tmp_path / "results")
    results = Results(tmp_path / "results")
    prune.prune(results)
    first = (folder / "pruned.json").read_bytes()
    assert prune.prune(results).attempts == 0
    assert (folder / "pruned.json").read_bytes() == first
    assert prune.prune(results, streams=True).files == 1
    record = load(folder / "pruned.json", "pruned")
    assert record["files"] == ["agent-stdout.txt", "command-output/s1.out"]
    assert len(record["trees"]) == 3
    assert wrong(folder) == []


def test_ungraded_and_running_attempts_are_left_alone(tmp_path: Path) -> None:
    """Without a result, or while a lease is held, nothing is dropped."""
    ungraded = attempt(tmp_path / "results", graded=False)
    other = ID.replace("/r1", "/r2")
    running = attempt(tmp_path / "results", other)
    results = Results(tmp_path / "results")
    results.attempt(other).lease.write_text(json.dumps(identity(other, "here")))
    done = prune.prune(results)
    assert done.attempts == 0
    assert done.skipped == {other: "is being run"}
    assert not any((folder / "pruned.json").exists() for folder in (ungraded, running))


@pytest.mark.parametrize(
    ("content", "why"),
    [("", "not whole"), (judged("passed")[:-9], "not whole"), (judged("verifier_error"), f"fairtrial regrade {ID}")],
)
def test_what_is_to_be_graded_again_keeps_everything(tmp_path: Path, content: str, why: str) -> None:
    """A torn result, or a verifier that failed, is no grade: even --streams leaves the attempt alone and says why."""
    folder = attempt(tmp_path / "results")
    (folder / "grades/abcdef012345/result.json").write_text(content)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = prune.prune(Results(tmp_path / "results"), streams=True)
    assert done.attempts == 0
    assert why in done.skipped[ID]
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["evidence.json", "pruned.json"])
def test_a_torn_record_of_one_attempt_stops_no_other(tmp_path: Path, name: str) -> None:
    """The damaged attempt is named and left alone, the ones behind it are pruned."""
    torn, other = attempt(tmp_path / "results"), ID.replace("/r1", "/r2")
    attempt(tmp_path / "results", other)
    (torn / name).write_text('{"sche')
    done = prune.prune(Results(tmp_path / "results"))
    assert done.attempts == 1
    assert "not whole JSON" in done.skipped[ID]
    assert (tmp_path / "results/attempts" / other / "pruned.json").exists()


def test_what_a_killed_prune_left_the_next_one_drops(tmp_path: Path) -> None:
    """Killed after pruned.json and before the pack was replaced: the next prune replaces it, and one after it rests."""
    folder = attempt(tmp_path / "results")
    pack = (folder / "snapshots/pack").read_bytes()
    prune.prune(Results(tmp_path / "results"))
    (folder / "snapshots/pack").write_bytes(pack)
    assert prune.prune(Results(tmp_path / "results")).trees == 3
    assert (folder / "snapshots/pack").stat().st_size < len(pack)
    assert wrong(folder) == []
    assert prune.prune(Results(tmp_path / "results")).attempts == 0


def test_a_kill_between_announcing_and_dropping_is_no_damage(tmp_path: Path) -> None:
    """pruned.json is written first: with the old pack and every file still there, verification holds."""
    folder = attempt(tmp_path / "results")
    before = {name: (folder / name).read_bytes() for name in ("snapshots/pack", "command-output/s1.out")}
    prune.prune(Results(tmp_path / "results"))
    for name, content in before.items():
        (folder / name).write_bytes(content)
    assert wrong(folder) == []


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    """--dry-run counts and leaves every byte."""
    folder = attempt(tmp_path / "results")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = prune.prune(Results(tmp_path / "results"), dry=True)
    assert (done.attempts, done.files, done.trees) == (1, 1, 3)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_usage_adds_up_by_kind_and_by_arm(tmp_path: Path) -> None:
    """Every byte of the tree is of one kind; every byte of an attempt is of its arm."""
    folder = attempt(tmp_path / "results")
    (tmp_path / "results/default/report").mkdir(parents=True)
    (tmp_path / "results/default/report/index.html").write_bytes(b"x" * 70)
    usage = du.measure(Results(tmp_path / "results"))
    own = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert usage.arms == {"alder/m-large": own}
    assert usage.kinds.total() == own + 70
    assert usage.kinds["tables and reports"] == 70
    assert usage.kinds["command output"] == 800
    assert usage.record()["arms"]["alder/m-large"]["seals"] == usage.kinds["seals"]
