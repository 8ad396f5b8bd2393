"""workspace.patch: `git apply` on the start gives the end, for generated trees that try to get in the way."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from fairtrial.instruments.snapshots import diff
from fairtrial.instruments.snapshots.diff import make_patch
from fairtrial.instruments.snapshots.manifest import REPOSITORIES
from fairtrial.instruments.snapshots.store import Store
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ATTRIBUTES = b"* filter=evil diff=evil text eol=crlf ident\n*.bin -diff\n* export-ignore\n"
CONFIG = b"""[core]
\tfsmonitor = touch evil
[filter "evil"]
\tclean = touch evil
[diff "evil"]
\tcommand = touch evil
"""
texts = [
    b"",
    b"one\n",
    b"one\ntwo\nthree\n",
    b"no end",
    b"one\r\ntwo\r\n",
    b"$Id$\n",
    b"\xff\xfe\x00bin\x00",
    b"\n\n\n",
]
lines = [b"alpha", b"beta ", b"\tgamma", b"-- x", b"++ y", b"\\ No newline", b"diff --git a/x b/x"]
contents = st.one_of(
    st.sampled_from(texts),
    st.lists(st.sampled_from(lines), max_size=12).map(b"\n".join),
    st.binary(max_size=80),
    st.builds(bytes.__mul__, st.sampled_from([b"long line\n", b"\0\1\2"]), st.integers(100, 400)),
)
plain = [b"a", b"b", b"lib", b"dev", b"null", b"a.bin", b"-dash", b"*", b".gitattributes", b".gitignore"]
odd = [
    b"with blank",
    b"tab\there",
    b"new\nline",
    b'quo"te',
    b"back\\slash",
    b"\xff\xfe",
    "\u00e9".encode(),
    b" lead",
    b"trail ",
]
parts = st.sampled_from(plain + odd)
paths = st.lists(parts, min_size=1, max_size=3).map(b"/".join)
entries = st.one_of(
    st.tuples(st.just("file"), contents),
    st.tuples(st.just("exec"), contents),
    st.tuples(st.just("link"), st.sampled_from([b"a", b"../up", b"/etc/hostname", b"gone", b"new\nline", b"."])),
)
worlds = st.dictionaries(paths, entries, max_size=7)


def build(root: Path, world: dict[bytes, tuple[str, bytes]], nested: bool) -> None:
    """A folder from a description; what clashes with an earlier path is left out."""
    root.mkdir(parents=True)
    world = {b".gitattributes": ("file", ATTRIBUTES), **world}
    for path, (kind, value) in world.items():
        target = root / os.fsdecode(path)
        try:
            if any(
                (root / os.fsdecode(b"/".join(path.split(b"/")[:i]))).is_symlink()
                for i in range(1, path.count(b"/") + 1)
            ):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_symlink() or target.is_dir():
                continue
            if kind == "link":
                target.symlink_to(os.fsdecode(value))
            else:
                target.write_bytes(value)
                target.chmod(0o755 if kind == "exec" else 0o644)
        except (NotADirectoryError, FileExistsError):
            continue
    if nested:
        for top in (root, root / "inner repo"):
            (top / ".git" / "info").mkdir(parents=True)
            (top / ".git" / "HEAD").write_bytes(b"ref: refs/heads/main\n")
            (top / ".git" / "config").write_bytes(CONFIG)
            (top / ".git" / "info" / "attributes").write_bytes(ATTRIBUTES)
        (root / "inner repo" / "file").write_bytes(b"content of a nested repository\n")


def apply(patch: bytes, root: Path) -> None:
    if patch:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "GIT_CEILING_DIRECTORIES": str(root.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        subprocess.run(
            ["git", "apply", "--whitespace=nowarn", "-"],
            input=patch,
            cwd=root,
            env=env,
            check=True,
            capture_output=True,
        )


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds, worlds, st.booleans(), st.booleans(), st.booleans())
def test_git_apply_on_the_start_gives_the_end(
    tmp_path: Path, old: dict, new: dict, keep: bool, nested_before: bool, nested_after: bool
) -> None:
    """Links, modes, binaries, nested repositories, a deleted .git, hostile attributes, odd names, CRLF, no newline."""
    work = tmp_path / os.urandom(6).hex()
    build(work / "start", old, nested_before)
    build(work / "end", {**old, **new} if keep else new, nested_after)
    store = Store(work / "store")
    start, end = store.capture(work / "start", REPOSITORIES), store.capture(work / "end", REPOSITORIES)
    patch = make_patch(store, start, end, work)
    assert patch.content is not None, patch.reason
    store.restore(start, work / "again")
    apply(patch.content, work / "again")
    got, want = store.manifest(work / "again", REPOSITORIES), store.tree(end)
    assert {p: e for p, e in got.items() if e[0] != "dir"} == {p: e for p, e in want.items() if e[0] != "dir"}
    assert not list(work.glob("**/evil"))
    shutil.rmtree(work)


def git(folder: Path, *argv: str, content: bytes = b"", index: str = "") -> bytes:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_INDEX_FILE": str(folder / (index or "index")),
    }
    return subprocess.run(
        ["git", f"--git-dir={folder}/bare", *argv],
        input=content,
        env=env,
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
    ).stdout


def porcelain(folder: Path, trees: list[Path]) -> bytes:
    """The same diff by git's own hash-object, update-index and write-tree."""
    git(folder, "init", "-q", "--bare", str(folder / "bare"))
    ids = []
    for number, tree in enumerate(trees):
        lines = b""
        for path in sorted(p for p in tree.rglob("*") if p.is_symlink() or p.is_file()):
            content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            blob = git(folder, "hash-object", "-w", "--no-filters", "--stdin", content=content).strip()
            mode = b"120000" if path.is_symlink() else b"100755" if path.stat().st_mode & 0o100 else b"100644"
            lines += mode + b" " + blob + b"\t" + os.fsencode(path.relative_to(tree)) + b"\0"
        git(folder, "update-index", "-z", "--index-info", content=lines, index=f"index{number}")
        ids.append(git(folder, "write-tree", index=f"index{number}").strip().decode())
    return git(
        folder, "diff-tree", "-p", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-renames", *ids
    )


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds, worlds)
def test_the_patch_is_what_gits_own_commands_make(tmp_path: Path, old: dict, new: dict) -> None:
    """Writing loose objects of the differing files only gives byte for byte the diff of the whole trees."""
    work = tmp_path / os.urandom(6).hex()
    build(work / "start", old, False)
    build(work / "end", {**old, **new}, False)
    store = Store(work / "store")
    start, end = store.capture(work / "start", REPOSITORIES), store.capture(work / "end", REPOSITORIES)
    patch = make_patch(store, start, end, work)
    assert patch.content == diff.quote_headers(porcelain(work, [work / "start", work / "end"]))


def captured(tmp_path: Path, old: dict[str, bytes], new: dict[str, bytes]) -> tuple[Store, str, str, Path]:
    store, ids = Store(tmp_path / "store"), []
    for side, files in (("old", old), ("new", new)):
        for name, content in files.items():
            (tmp_path / side / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / side / name).write_bytes(content)
        ids.append(store.capture(tmp_path / side, REPOSITORIES))
    return store, ids[0], ids[1], tmp_path


def test_figures_count_lines_that_look_like_headers_and_leave_caches_out(tmp_path: Path) -> None:
    """Changed lines beginning with -- or ++ count; files in caches are in the patch and in no figure."""
    old = {"a.py": b"keep\n-- old\nx\n", "same": b"1\n"}
    new = {"a.py": b"keep\n++ new\nx\n\n", "same": b"1\n", "__pycache__/a.pyc": b"\0", "n": b"no end"}
    patch = make_patch(*captured(tmp_path, old, new))
    assert (patch.files_changed, patch.lines_added, patch.lines_removed) == (2, 3, 1)
    assert len(patch.line_hashes) == 3  # the blank line says nothing about the approach
    assert b"__pycache__" in (patch.content or b"")


def test_the_same_change_elsewhere_in_a_file_has_the_same_hashes(tmp_path: Path) -> None:
    """Hashes are of lines, not places or indentation: two like approaches overlap."""
    one = make_patch(*captured(tmp_path / "1", {"f": b"a\nb\n"}, {"f": b"a\nfix\nb\n"}))
    two = make_patch(*captured(tmp_path / "2", {"g": b"c\n"}, {"g": b"c\n    fix\n"}))
    assert one.line_hashes == two.line_hashes != []


def test_without_git_there_is_no_patch_and_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No git: content None, a reason, line figures None, the number of changed files still right."""
    trees = captured(tmp_path, {"f": b"1\n"}, {"f": b"2\n", "g": b"3\n"})
    monkeypatch.setenv("PATH", str(tmp_path))
    patch = make_patch(*trees)
    assert (patch.content, patch.reason, patch.files_changed, patch.lines_added) == (
        None,
        "git is not installed",
        2,
        None,
    )


def test_no_change_is_an_empty_patch(tmp_path: Path) -> None:
    """Equal trees need no git and give an empty patch."""
    patch = make_patch(*captured(tmp_path, {"f": b"1\n"}, {"f": b"1\n"}))
    assert (patch.content, patch.lines_added, patch.lines_removed, patch.files_changed) == (b"", 0, 0, 0)


def test_too_much_makes_no_patch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the size limit there is no patch, and the reason names the limit."""
    monkeypatch.setattr(diff, "MOST_BYTES", 1 << 20)
    patch = make_patch(*captured(tmp_path, {"f": b"1"}, {"f": b"x" * (1 << 20)}))
    assert patch.content is None
    assert "1 MiB" in (patch.reason or "")


def test_names_for_which_git_refuses_a_whole_patch_are_left_out(tmp_path: Path) -> None:
    """.git in disguise and a link called .gitmodules spoil nothing: they are named, and the rest applies."""
    bad = [".GIT/x", "git~1", "a/.git /x", "GIT~1/y", ".git:z"]
    store, start, _, _ = captured(tmp_path, {"f": b"1\n"}, {"f": b"2\n"} | dict.fromkeys(bad, b""))
    (tmp_path / "new" / ".gitmodules").symlink_to("f")
    patch = make_patch(store, start, store.capture(tmp_path / "new", REPOSITORIES), tmp_path)
    assert patch.left_out == sorted([*bad, ".gitmodules"])
    apply(patch.content or b"", tmp_path / "old")
    assert (tmp_path / "old" / "f").read_bytes() == b"2\n"
