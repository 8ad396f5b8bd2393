"""What of a Harbor environment can be had without an image: a Dockerfile that only copies files and sets WORKDIR."""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fairtrial.authoring.package import Package, Refused

_COMPOSE = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml")
DEFAULT = "/app"
REWARD = '''\
"""Runs the imported tests/test.sh; the reward it writes becomes an exit status, its own status counts for nothing."""

import json
import math
import subprocess
import sys
from pathlib import Path

LOGS = Path("/tmp/logs/verifier")


def reward():
    """The least of the rewards; reward.json wins over reward.txt."""
    if (LOGS / "reward.json").is_file():
        return min(map(float, json.loads((LOGS / "reward.json").read_text()).values()))
    return float((LOGS / "reward.txt").read_text())


LOGS.mkdir(parents=True)
script = Path(__file__).parent / "tests" / "test.sh"
done = subprocess.run(["bash", str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
try:
    found = reward()
    if not math.isfinite(found):
        raise ValueError(f"the reward is {found}")
except (OSError, ValueError, AttributeError, TypeError) as error:
    print(f"no tests ran: test.sh left no reward ({type(error).__name__}: {error})")
    sys.exit(1)
sys.stdout.buffer.write(done.stdout[-4000:])
print(f"reward {found}")
sys.exit(0 if found >= 1 else 1)
'''


@dataclass(frozen=True, slots=True)
class _Copy:
    """One COPY: where it stands, its text, its words, and the WORKDIR in force."""

    place: str
    line: str
    words: list[str]
    workdir: str


def workspace(folder: Path, workdir: str | None, made: Package) -> str:
    """Add the workspace's files to `made`; the container's path of it. Raises Refused with the line in the way."""
    environment = folder / "environment"
    for name in _COMPOSE:
        if (environment / name).is_file():
            raise Refused(f"{environment / name}:1", "a composition of containers has no counterpart here")
    found = workdir or DEFAULT
    if (environment / "Dockerfile").is_file():
        found = _dockerfile(environment, workdir, made)
    if not any(name.startswith("workspace/") for name in made.files):
        made.files["workspace/.keep"] = b""
    return found


def _dockerfile(environment: Path, given: str | None, made: Package) -> str:
    path = environment / "Dockerfile"
    workdir, copies, stages = "/", list[_Copy](), 0
    for number, line in _instructions(path.read_text(encoding="utf-8", errors="replace")):
        word, _, rest = line.partition(" ")
        place, word = f"{path}:{number}", word.upper()
        if word == "FROM":
            stages += 1
            if stages > 1:
                raise Refused(place, f"{line!r}: a second stage needs an image build")
        elif word == "WORKDIR":
            workdir = posixpath.normpath(posixpath.join(workdir, rest.strip().strip("\"'")))
        elif word in ("COPY", "ADD"):
            copies.append(_Copy(place, line, _words(place, line, rest), workdir))
        else:
            raise Refused(place, f"{line!r}: {word} needs an image build; only COPY and WORKDIR can be had without")
    top = given or workdir
    if top == "/" and copies:
        raise Refused(copies[0].place, f"{copies[0].line!r}: files are copied, and no WORKDIR is set")
    for copy in copies:
        _copy(environment, copy, top, made)
    return top if top != "/" else DEFAULT


def _instructions(text: str) -> Iterator[tuple[int, str]]:
    """(line number, instruction) with continued lines joined, comments and blank lines left out."""
    begun, parts = 0, list[str]()
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        begun = begun if parts else number
        parts.append(line.removesuffix("\\").strip())
        if not line.endswith("\\"):
            yield begun, " ".join(parts)
            parts = []
    if parts:
        yield begun, " ".join(parts)


def _words(place: str, line: str, rest: str) -> list[str]:
    try:
        words = json.loads(rest) if rest.lstrip().startswith("[") else shlex.split(rest)
    except ValueError as error:
        raise Refused(place, f"{line!r}: cannot be read ({error})") from None
    for word in words:
        if word.startswith("--") and not word.startswith("--chown="):
            raise Refused(place, f"{line!r}: {word} needs an image build")
    words = [str(word) for word in words if not word.startswith("--")]
    if len(words) < 2 or any(w.startswith(("<<", "/", "http:", "https:", "git@")) or ".." in w for w in words[:-1]):
        raise Refused(place, f"{line!r}: only files of environment/ can be copied")
    return words


def _copy(environment: Path, copy: _Copy, top: str, made: Package) -> None:
    *sources, target = copy.words
    inside = posixpath.relpath(posixpath.join(copy.workdir, target), top)
    if inside.startswith(".."):
        raise Refused(copy.place, f"{copy.line!r}: copies to a place outside of WORKDIR {top}")
    below = "workspace" if inside == "." else f"workspace/{inside}"
    is_folder = target.endswith(("/", ".")) or len(sources) > 1 or below == "workspace"
    for source in sources:
        found = [environment] if source in (".", "./") else sorted(environment.glob(source.rstrip("/")))
        if not found:
            raise Refused(copy.place, f"{copy.line!r}: {source} is not in environment/")
        for path in found:
            if path.is_dir():
                made.add(path, below)
                continue
            name = f"{below}/{path.name}" if is_folder else below
            made.files[name] = path.read_bytes()
            if path.stat().st_mode & 0o100:
                made.executable.add(name)
    made.files.pop("workspace/Dockerfile", None)
