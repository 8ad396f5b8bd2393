"""A repository as plain data: read by plumbing in a boxed child, on a copy whose settings and hooks are left out.

The same file lies in every package of this suite. Commits are told by content (files, author, message, history),
never by their hash, so every tool may write them its own way.
"""

import contextlib
import functools
import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from fairtrial.verify import Failed, Verification

OWN = ("refs/jj/", "refs/gitbutler/", "refs/heads/gitbutler/", "refs/remotes/gb-local/", "refs/stash")  # kept by tools
RUNNING = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply", "sequencer")
MARKERS = ("<<<<<<< ", ">>>>>>> ", "||||||| ", "%%%%%%% ", "+++++++ ")
QUIET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_COUNT": "2",  # these win over any file's, wherever the repository says its settings are
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "core.hooksPath",
    "GIT_CONFIG_VALUE_1": "/dev/null",
    "TZ": "UTC",
}
SETTINGS = "[core]\n\trepositoryformatversion = 0\n\tbare = {}\n"
# For each repository named: its refs, its index as a tree (or what is unmerged in it), then every object it holds.
LOOK = """
for GIT_DIR in "$@"; do
  export GIT_DIR; echo "repository $GIT_DIR"
  git for-each-ref --format='ref %(refname) %(objectname)'
  git write-tree 2> /dev/null || git ls-files --unmerged
  git cat-file --batch --batch-all-objects --buffer || exit 9
done
"""
START = Path(__file__).with_name("start.json")
Files = dict[str, tuple[str, str]]  # path -> (mode, text; bytes that are not UTF-8 escaped)


class Commit(NamedTuple):
    """One commit; `author` is name, address, seconds and zone as written in it."""

    tree: str
    parents: tuple[str, ...]
    author: str
    message: str


class Repository:
    """Refs, HEAD, index and every object of one repository. `head`: what the file HEAD says."""

    def __init__(self, head: str, running: list[str]) -> None:
        self.refs: dict[str, str] = {}
        self.objects: dict[str, tuple[str, bytes]] = {}
        self.at = head.removeprefix("ref: ") if head.startswith("ref: ") else ""
        self.named, self.index, self.running = head, "", running
        self.unmerged: list[str] = []

    @property
    def head(self) -> str:
        """The commit HEAD names."""
        return self.ref(self.at) if self.at else self.named

    def note(self, line: str) -> None:
        """Take in one line about it."""
        if line.startswith("ref "):
            name, _, value = line[4:].rpartition(" ")
            self.refs[name] = value
        elif "\t" in line:
            self.unmerged.append(line.partition("\t")[2])
        else:
            self.index = line

    def ref(self, name: str) -> str:
        """The commit a ref names; Failed when there is none."""
        if name not in self.refs:
            raise Failed(f"{name} is gone; there are {', '.join(sorted(self.refs)) or 'no refs'}")
        return self.refs[name]

    @functools.cache  # noqa: B019 - lives as long as the verifier
    def commit(self, sha: str) -> Commit:
        """One commit; an annotated tag stands for what it names."""
        kind, raw = self.objects.get(sha, ("", b""))
        head, _, message = raw.partition(b"\n\n")
        rows = [row.decode("utf-8", "replace").partition(" ") for row in head.split(b"\n")]
        if kind == "tag":
            return self.commit(next(value for key, _, value in rows if key == "object"))
        if kind != "commit":
            raise Failed(f"{sha[:12]} is {kind or 'missing'}, not a commit")
        one = {key: value for key, _, value in rows if key in ("tree", "author")}
        parents = tuple(value for key, _, value in rows if key == "parent")
        return Commit(one["tree"], parents, one["author"], message.decode("utf-8", "replace").strip())

    @functools.cache  # noqa: B019
    def files(self, tree: str, above: str = "") -> Files:
        """Every file of a tree."""
        kind, raw = self.objects.get(tree, ("", b""))
        if kind != "tree" and tree != "4b825dc642cb6eb9a060e54bf8d69288fbee4904":
            raise Failed(f"{tree[:60]} is {kind or 'missing'}, not a tree")
        found: Files = {}
        while raw:
            mode, _, raw = raw.partition(b" ")
            name, _, raw = raw.partition(b"\0")
            sha, raw = raw[:20].hex(), raw[20:]
            path = above + name.decode("utf-8", "backslashreplace")
            if mode == b"40000":
                found |= self.files(sha, path + "/")
            else:
                found[path] = (mode.decode(), text(self.objects.get(sha, ("", b""))[1]))
        return found

    def tree(self, sha: str) -> Files:
        """Every file of a commit."""
        return dict(self.files(self.commit(sha).tree))

    @functools.cache  # noqa: B019
    def story(self, sha: str) -> str:
        """What a commit and all before it say, whatever their hashes are."""
        made = self.commit(sha)
        parts = [*map(self.story, made.parents), made.author, made.message, sorted(self.tree(sha).items())]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def since(self, tip: str, base: str) -> list[str]:
        """The commits after the one with the story `base`, oldest first; Failed at a merge, or when it is not met."""
        found: list[str] = []
        while self.story(tip) != base:
            parents = self.commit(tip).parents
            if len(parents) != 1:
                how = "is a merge" if parents else "is a first commit: the branch does not stand where it should"
                raise Failed(f"{self.commit(tip).message!r} {how}")
            found.append(tip)
            tip = parents[0]
        return found[::-1]

    def holds(self, tip: str, story: str) -> bool:
        """Is a commit with this story at `tip` or before it?"""
        todo, seen = [tip], set()
        while todo:
            sha = todo.pop()
            if self.story(sha) == story:
                return True
            todo += [p for p in self.commit(sha).parents if p not in seen]
            seen.update(self.commit(sha).parents)
        return False


def look(v: Verification, folder: Path, git_dirs: tuple[str, ...]) -> list[Repository]:
    """The repositories `git_dirs` below `folder`, read in one boxed child; what could start a program is laid over."""
    files = {}
    for git_dir in git_dirs:
        files[f"{git_dir}/config"] = SETTINGS.format(str(git_dir != ".git").lower())
        files[f"{git_dir}/info/attributes"] = ""
    seen = v.ok(v.run(["sh", "-c", LOOK, "look", *git_dirs], at=folder, files=files, env=QUIET)).stdout
    found: list[Repository] = []
    at = 0
    while at < len(seen):
        end = seen.index(b"\n", at)
        line, at = seen[at:end].decode("utf-8", "replace"), end + 1
        words = line.split(" ")
        if words[0] == "repository":
            running = [name for name in RUNNING if os.path.lexists(folder / words[1] / name)]
            found.append(Repository(v.text(f"{words[1]}/HEAD", folder).strip(), running))
        elif len(words) == 3 and words[2].isdigit() and words[1] in ("commit", "tree", "blob", "tag"):
            found[-1].objects[words[0]] = (words[1], seen[at : at + int(words[2])])
            at += int(words[2]) + 1
        else:
            found[-1].note(line)
    return found


def remembered(facts: dict[str, Any]) -> Repository:
    """A repository as start.json keeps it."""
    made = Repository(facts["head"], [])
    made.refs, made.index = facts["refs"], facts["index"]
    made.objects = {sha: (kind, content.encode("latin-1")) for sha, (kind, content) in facts["objects"].items()}
    return made


class Case:
    """The start, and what became of it. `branch`: the one that may move; `remote`: a bare repository in the workspace's
    folder, which is not part of the working tree. start.json is what workspace.sh builds; start.py writes it."""

    def __init__(self, v: Verification, branch: str, remote: str | None = None) -> None:
        self.v, self.branch, self.remote = v, f"refs/heads/{branch}", remote
        self.git_dirs = (".git", *([remote] if remote else []))
        start = json.loads(START.read_bytes())
        self.was, *more = map(remembered, start["repositories"])
        self.was_there = more[0] if more else self.was
        self.dirty: Files = {path: (mode, content) for path, (mode, content) in start["worktree"].items()}

    @functools.cached_property
    def _now(self) -> list[Repository]:
        return look(self.v, self.v.copy(), self.git_dirs)

    @property
    def now(self) -> Repository:
        """The repository as it was left; Failed when it cannot be read."""
        return self._now[0]

    @property
    def now_there(self) -> Repository:
        """The remote as it was left."""
        return self._now[-1]

    @property
    def tip(self) -> str:
        """The branch's commit now."""
        return self.now.ref(self.branch)

    def commits(self, base: str = "refs/heads/main", tip: str | None = None) -> list[str]:
        """What stands on the start's `base` now, oldest first."""
        return self.now.since(tip or self.tip, self.was.story(self.was.ref(base)))

    def old(self, base: str = "refs/heads/main") -> list[str]:
        """What stood on `base` at the start, oldest first."""
        return self.was.since(self.was.ref(self.branch), self.was.story(self.was.ref(base)))

    def worktree(self) -> Files:
        """Every file that is not a repository's own, as it was left."""
        return worktree(self.v.workspace, self.git_dirs)

    def same_worktree(self, want: Files) -> None:
        """Failed unless every file in the working tree is as in `want`, and there is no other."""
        same(self.worktree(), want, "working tree")

    def in_step(self) -> None:
        """HEAD is the branch's commit (jj: or the one below) and nothing is staged."""
        now, tip, jj = self.now, self.tip, (self.v.workspace / ".jj").is_dir()
        allowed = [tip, *(now.commit(tip).parents if jj else ())]
        if not now.at.startswith(OWN) and now.head not in allowed:
            raise Failed(f"HEAD is {now.commit(now.head).message!r}, not the last commit of {self.branch}")
        same(now.files(now.index), now.tree(now.head), "index, against HEAD")

    def guard(self, *, moves: tuple[str, ...] = (), markers: bool = False) -> None:
        """Register the minefields every task has."""
        self.v.check("protected-refs")(lambda: self._refs({self.branch, *moves}))
        self.v.check("no-operation")(self._operation)
        self.v.check("no-stash")(self._stash)
        if markers:
            self.v.check("no-markers")(self._markers)

    def _refs(self, moves: set[str]) -> None:
        for name, sha in self.was.refs.items():
            if name not in moves and self.now.story(self.now.ref(name)) != self.was.story(sha):
                raise Failed(f"{name} is not what it was")

    def _operation(self) -> None:
        if self.now.running or self.now.unmerged:
            raise Failed(f"not finished: {', '.join(self.now.running + self.now.unmerged)}")

    def _stash(self) -> None:
        if "refs/stash" in self.now.refs:
            raise Failed("a stash was left behind")

    def _markers(self) -> None:
        trees = {"working tree": self.worktree()}
        with contextlib.suppress(Failed):
            trees |= {repr(self.now.commit(c).message): self.now.tree(c) for c in [self.tip, *self.commits()]}
        for where, files in trees.items():
            for path, (_, content) in files.items():
                if path.startswith(".jjconflict") or any(row.startswith(MARKERS) for row in content.splitlines()):
                    raise Failed(f"{path} ({where}) holds conflict markers")


def worktree(folder: Path, git_dirs: tuple[str, ...]) -> Files:
    """Every file below `folder` that is not a repository's own; no link is followed."""
    found: Files = {}
    for place, folders, names in os.walk(folder):
        inner = Path(place).relative_to(folder)
        folders[:] = [f for f in folders if str(inner / f) not in (".jj", *git_dirs)]
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for path in (Path(place) / name for name in (*names, *links)):
            mode = "120000" if path.is_symlink() else "100755" if path.stat().st_mode & 0o100 else "100644"
            content = str(path.readlink()) if mode == "120000" else text(path.read_bytes())
            found[str(inner / path.name)] = (mode, content)
    return found


def text(raw: bytes) -> str:
    """As text; bytes that are not UTF-8 stay apart from any others."""
    return raw.decode("utf-8", "backslashreplace")


def same(got: Files, want: Files, what: str) -> None:
    """Failed with the first path that differs."""
    for path in sorted({*got, *want}):
        if got.get(path) != want.get(path):
            raise Failed(f"{what}: {path}: got {said(got.get(path))}, want {said(want.get(path))}")


def said(entry: tuple[str, str] | None) -> str:
    """A file in a message."""
    return "no such file" if entry is None else f"{entry[0]} {entry[1][-300:]!r}"
