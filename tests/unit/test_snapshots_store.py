"""The content-addressed store: trees in, the same trees out, whatever they are called."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import time
from pathlib import Path

import pytest
from fairtrial.contracts.errors import UserError
from fairtrial.instruments.snapshots.manifest import IGNORE, REPOSITORIES, canonical, difference, parse
from fairtrial.instruments.snapshots.pack import Pack
from fairtrial.instruments.snapshots.store import Caps, Store, remove
from fairtrial.instruments.snapshots.watch import watcher_for
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

names = st.binary(min_size=1, max_size=6).filter(lambda n: n not in (b".", b"..") and not {0, 47} & set(n))
values = st.one_of(
    st.tuples(st.sampled_from(["file", "exec"]), st.binary(min_size=32, max_size=32)),
    st.tuples(st.just("link"), st.binary(min_size=1).filter(lambda b: 0 not in b)),
    st.just(("dir", b"")),
)
trees = st.dictionaries(st.lists(names, min_size=1, max_size=3).map(b"/".join), values, max_size=6)


def write(root: Path, files: dict[str | bytes, bytes]) -> None:
    for name, content in files.items():
        path = root / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@given(trees, trees)
def test_a_tree_is_read_back_from_its_spelling_and_from_a_difference(old: dict, new: dict) -> None:
    """parse is the inverse of canonical, and of difference over any base."""
    assert parse(canonical(new)) == new
    assert parse(difference(old, new), base=old) == new


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(names, st.tuples(st.binary(max_size=300), st.booleans()), max_size=5),
    st.binary(min_size=1, max_size=9),
)
def test_restore_of_a_capture_is_the_same_tree(tmp_path: Path, files: dict, target: bytes) -> None:
    """Names of any bytes, contents, the executable bit and link texts survive capture and restore."""
    work = tmp_path / os.urandom(6).hex()
    (work / "in" / "empty").mkdir(parents=True)
    for name, (content, runs) in files.items():
        path = work / "in" / "sub" / os.fsdecode(name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if runs else 0o644)
    (work / "in" / "link").symlink_to(os.fsdecode(target.replace(b"\0", b"0")))
    store = Store(work / "store")
    tree = store.capture(work / "in", frozenset())
    store.restore(tree, work / "out")
    store.close()
    again = Store(work / "store")
    assert again.manifest(work / "out", frozenset()) == again.tree(tree) == again.manifest(work / "in", frozenset())
    assert b"empty" in again.tree(tree)


def test_one_pack_file_holds_everything_and_reopens(tmp_path: Path) -> None:
    """Many trees that differ little are kept as differences, in one file, and all come back after reopening."""
    root, store = tmp_path / "w", Store(tmp_path / "s")
    write(root, {f"d{i % 7}/f{i}": b"line\n" * i for i in range(120)})
    ids, sizes = [], []
    for i in range(80):
        write(root, {"d0/f0": b"%d" % i})
        ids.append(store.capture(root))
        sizes.append(store.pack.size)
    store.close()
    assert [p.name for p in (tmp_path / "s").iterdir()] == ["pack"]
    assert sizes[-1] - sizes[0] < 40_000  # 80 whole manifests would be 400 kB
    again = Store(tmp_path / "s")
    for i in (0, 31, 32, 33, 64, 79):
        tree = again.tree(ids[i])
        assert len(tree) == 120
        assert again.content(tree[b"d0/f0"][1]) == b"%d" % i


def test_an_edit_of_equal_size_within_one_clock_tick_is_seen(tmp_path: Path) -> None:
    """A stat younger than 20 ms is not trusted: 200 immediate edits of equal size make 200 different trees."""
    root, store = tmp_path / "w", Store(tmp_path / "s")
    seen = set()
    for i in range(200):
        write(root, {"f": b"%03d" % i})
        seen.add(store.capture(root))
    assert len(seen) == 200


def test_a_settled_file_is_not_read_again_but_at_rest_it_is(tmp_path: Path) -> None:
    """The stat cache saves reading; a capture at rest reads everything, since memory maps change no stat."""
    root, store = tmp_path / "w", Store(tmp_path / "s")
    write(root, {"f": b"aaa"})
    time.sleep(0.05)
    store.capture(root)
    read: list[str] = []
    kept = store._keep_file
    store._keep_file = lambda name, folder, status: (read.append(name), kept(name, folder, status))[1]  # type: ignore[method-assign]
    store.capture(root)
    assert read == []
    store.capture(root, at_rest=True)
    assert read == ["f"]


def test_links_are_kept_as_text_and_special_files_are_counted(tmp_path: Path) -> None:
    """Nothing behind a link enters the store; sockets and fifos are counted, and a fifo blocks nobody."""
    root, store = tmp_path / "w", Store(tmp_path / "s")
    write(tmp_path, {"secret/key": b"do not publish"})
    write(root, {"f": b"1"})
    (root / "file").symlink_to(tmp_path / "secret" / "key")
    (root / "folder").symlink_to(tmp_path / "secret")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "s"))
        tree = store.tree(store.capture(root))
    assert set(tree) == {b"f", b"file", b"folder", b"loop"}
    assert tree[b"folder"] == ("link", os.fsencode(tmp_path / "secret"))
    assert store.seen.skipped == {"fifo": 1, "socket": 1}
    assert b"publish" not in (tmp_path / "s" / "pack").read_bytes()


def test_ignored_folders_are_left_out_and_files_of_that_name_are_not(tmp_path: Path) -> None:
    """Caches and repositories stay out of snapshots; a .git file goes too, a file called node_modules stays."""
    root, store = tmp_path / "w", Store(tmp_path / "s")
    write(
        root,
        {"a/__pycache__/x": b"1", ".git/HEAD": b"2", "sub/.git": b"gitdir: x", "b/node_modules": b"3", "mine/x": b"4"},
    )
    assert set(store.tree(store.capture(root, IGNORE | {"mine"}))) == {b"b/node_modules", b"a", b"sub"}
    assert b"mine/x" in store.tree(store.capture(root, REPOSITORIES))


def test_a_file_past_the_cap_is_omitted_and_its_tree_says_so(tmp_path: Path) -> None:
    """Too large a file is an omitted entry that still changes with the file, and restore names it."""
    root, store = tmp_path / "w", Store(tmp_path / "s", Caps(file=1000))
    write(root, {"big": b"x" * 2000, "small": b"y"})
    first = store.capture(root)
    write(root, {"big": b"x" * 2001})
    assert store.capture(root) != first
    assert store.restore(first, tmp_path / "out") == [b"big"]
    assert store.tree(store.capture(root, at_rest=True))[b"big"][0] == "file"


def test_large_files_go_through_in_pieces(tmp_path: Path) -> None:
    """A file past the whole-file limit is kept by streaming and comes back byte for byte."""
    root, store = tmp_path / "w", Store(tmp_path / "s")
    content = os.urandom(1 << 20) * 17
    write(root, {"big": content})
    store.restore(store.capture(root), tmp_path / "out")
    assert (tmp_path / "out" / "big").read_bytes() == content


def test_a_large_file_that_changes_while_it_is_copied_leaves_no_trace(tmp_path: Path) -> None:
    """add_stream keeps nothing when the chunks are not what was announced, and the pack stays readable."""
    pack = Pack(tmp_path / "pack")
    first = pack.add(b"before")
    assert not pack.add_stream(b"\1" * 32, 4, [b"abcd"])
    assert not pack.add_stream(b"\1" * 32, 4, [b"abcdefgh"])
    second = pack.add(b"after")
    pack.close()
    again = Pack(tmp_path / "pack")
    assert (again.content(first), again.content(second), len(again)) == (b"before", b"after", 2)


def test_a_large_file_that_cannot_be_read_to_its_end_leaves_no_trace(tmp_path: Path) -> None:
    """What was written of an object before its source failed is taken back."""
    pack = Pack(tmp_path / "pack")
    with pytest.raises(OSError, match="gone"):
        pack.add_stream(b"\1" * 32, 8, (b"abcd" if n == 0 else _gone() for n in range(2)))
    kept = pack.add(b"after")
    pack.close()
    assert Pack(tmp_path / "pack").content(kept) == b"after"


def _gone() -> bytes:
    raise OSError("gone")


@pytest.mark.parametrize("damage", ["cut", "flip", "head"])
def test_a_damaged_pack_gives_an_error_and_never_wrong_content(tmp_path: Path, damage: str) -> None:
    """A torn tail, a flipped bit and a foreign file are each one clear error."""
    root, store = tmp_path / "w", Store(tmp_path / "s")
    write(root, {"f": os.urandom(500)})
    tree = store.capture(root)
    store.close()
    pack = tmp_path / "s" / "pack"
    content = bytearray(pack.read_bytes())
    if damage == "cut":
        del content[-3:]
    else:
        content[100 if damage == "flip" else 0] ^= 1
    pack.write_bytes(content)
    with pytest.raises(UserError, match="pack"):
        Store(tmp_path / "s").restore(tree, tmp_path / "out")


def test_a_pack_from_elsewhere_cannot_write_outside(tmp_path: Path) -> None:
    """Paths that leave the folder are refused, and nothing is written through a link of the same tree."""
    store = Store(tmp_path / "s")
    blob = store.pack.add(b"evil")
    with pytest.raises(UserError, match="will not be restored"):
        store.lay_out({b"../x": ("file", blob)}, tmp_path / "a")
    with pytest.raises(FileExistsError):
        store.lay_out({b"l": ("link", os.fsencode(tmp_path)), b"l/x": ("file", blob)}, tmp_path / "b")
    assert not (tmp_path / "x").exists()


def test_restore_refuses_a_folder_with_something_in_it(tmp_path: Path) -> None:
    """A restore never mixes with what is there."""
    root, store = tmp_path / "w", Store(tmp_path / "s")
    write(root, {"f": b"1"})
    with pytest.raises(UserError, match="not empty"):
        store.restore(store.capture(root), root)


def test_a_very_deep_tree_ends_the_walk_and_is_counted(tmp_path: Path) -> None:
    """Folders nested past the limit cost no more than the limit, and the tree is marked incomplete."""
    root, store = tmp_path / "w", Store(tmp_path / "s")
    deepest = root
    for _ in range(230):
        deepest = deepest / "d"
    deepest.mkdir(parents=True)
    tree = store.tree(store.capture(root))
    assert [entry[0] for entry in tree.values()] == ["omitted"]
    assert store.seen.skipped == {"too_deep": 1}


def test_locked_folders_and_files_hide_nothing_at_rest(tmp_path: Path) -> None:
    """What the agent made unreadable is opened up once nothing runs any more, and can be deleted afterwards."""
    root, store = tmp_path / "w", Store(tmp_path / "s")
    write(root, {"locked/leftover": b"1", "unreadable": b"2"})
    (root / "unreadable").chmod(0)
    (root / "locked").chmod(0)
    tree = store.tree(store.capture(root, at_rest=True))
    assert {path: entry[0] for path, entry in tree.items()} == {b"locked/leftover": "file", b"unreadable": "file"}
    (root / "locked").chmod(0o500)
    remove(root)
    assert not root.exists()


def test_the_mount_point_of_the_sandbox_is_not_the_agents(tmp_path: Path) -> None:
    """An empty folder or file where something was mounted is left out; one with content is kept."""
    root, store = tmp_path / "w", Store(tmp_path / "s")
    write(root, {"f": b"1", "settings.json": b""})
    (root / "acceptance").mkdir()
    mounts = frozenset({b"acceptance", b"settings.json"})
    assert set(store.tree(store.capture(root, mounts=mounts))) == {b"f"}
    write(root, {"acceptance/test.py": b"2"})
    assert b"acceptance/test.py" in store.tree(store.capture(root, mounts=mounts))


places = st.lists(st.sampled_from(["a", "b", "__pycache__"]), min_size=1, max_size=3).map("/".join)
steps = st.lists(
    st.tuples(st.sampled_from(["write", "write", "remove", "move", "folder", "link", "mode"]), places, places)
)


def act(root: Path, step: str, one: Path, two: Path) -> None:
    """One change, or none where it is not possible."""
    with contextlib.suppress(OSError, shutil.Error):
        if step == "write":
            one.write_bytes(os.urandom(4))
        elif step == "remove":
            shutil.rmtree(one) if one.is_dir() and not one.is_symlink() else one.unlink()
        elif step == "move":
            one.rename(two)
        elif step == "folder":
            one.mkdir()
        elif step == "link":
            one.symlink_to("a")
        else:
            one.chmod(0o755)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps, st.integers(1, 3))
def test_looking_only_where_events_were_sees_what_a_whole_walk_sees(tmp_path: Path, moves: list, every: int) -> None:
    """After any edits, moves, links and deletions, folder-wise looks give the tree of a whole walk."""
    work = tmp_path / os.urandom(6).hex()
    root = work / "w"
    root.mkdir(parents=True)
    watcher, store = watcher_for(root, IGNORE), Store(work / "s")
    store.capture(root, watcher=watcher)
    for number, (step, one, two) in enumerate(moves):
        act(root, step, root / one, root / two)
        if number % every == 0:
            tree = store.capture(root, watcher=watcher, only=watcher.take())
            assert store.tree(tree) == store.manifest(root)
    watcher.close()
    store.close()
