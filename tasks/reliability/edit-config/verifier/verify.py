"""Hidden checks of edit-config: exactly three edits, to the letter."""

import os
import tomllib
from pathlib import Path

from fairtrial.verify import Failed, Verification

v = Verification()


def tree(root: Path) -> dict[str, bytes | None]:
    """Every file of a tree but for repositories, bytecode and the acceptance folder; None stands for a link."""
    found: dict[str, bytes | None] = {}
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name not in (".git", "__pycache__", "acceptance")]
        for name in files + [name for name in names if (Path(folder) / name).is_symlink()]:
            path = Path(folder) / name
            found[path.relative_to(root).as_posix()] = None if path.is_symlink() else path.read_bytes()
    return found


STAGING, PRODUCTION = "config/staging.toml", "config/production.toml"


def original(path: str) -> str:
    """A file as it was handed out."""
    return (v.task / "workspace" / path).read_text(encoding="utf-8")


def values(text: str) -> dict[str, object]:
    """Every value of a TOML text by its path, arrays whole."""
    try:
        waiting = list(tomllib.loads(text).items())
    except tomllib.TOMLDecodeError as error:
        raise Failed(f"{STAGING}: {error}") from None
    found: dict[str, object] = {}
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{path}.{key}", item) for key, item in value.items()]
        else:
            found[path] = value
    return found


EDITS = {"server.workers": 8, "cache.ttl_seconds": 60, "jobs.queues": ["mail", "thumbnails", "export", "reports"]}


@v.check("values")
def edited_values() -> None:
    """The three values, with their types."""
    now = values(v.text(STAGING))
    for path, want in EDITS.items():
        v.equal(now.get(path), want, path)


@v.check("lines")
def lines() -> None:
    """Line by line: two lines edited in place, one added, everything else to the letter."""
    want = original(STAGING)
    want = want.replace("workers = 4          # workers = 2", "workers = 8          # workers = 2")
    want = want.replace("enabled = true\nttl_seconds = 300\n", "enabled = true\nttl_seconds = 60\n")
    want = want.replace('    "export",\n', '    "export",\n    "reports",\n')
    got = v.text(STAGING)
    for number, (line, wanted) in enumerate(zip(got.split("\n"), want.split("\n"), strict=False), 1):
        v.equal(line, wanted, f"line {number}")
    v.equal(got, want, "the file")


@v.check("other-values")
def other_values() -> None:
    """No other value is changed, added or gone."""
    before, now = values(original(STAGING)), values(v.text(STAGING))
    for path in sorted({*before, *now} - {*EDITS}):
        v.equal([path in now, now.get(path)], [path in before, before.get(path)], path)


@v.check("production-untouched")
def production_untouched() -> None:
    """The production file is what it was, byte for byte."""
    v.equal(v.text(PRODUCTION), original(PRODUCTION), PRODUCTION)


@v.check("nothing-left")
def nothing_left() -> None:
    """No other file is changed, no backup and no script is left behind."""
    before, after = tree(v.task / "workspace"), tree(v.workspace)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    v.equal(sorted(changed - {STAGING, PRODUCTION}), [], "other files")


v.finish()
