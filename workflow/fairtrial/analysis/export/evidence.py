"""A bundle of everything a published number rests on, after a scan for secrets.

<out>/
    evidence.tar.gz     matrix, tables, scorecard, report, frozen recipes and every attempt's folder; equal input,
                        equal bytes
    evidence.json       sha256 of every file in it

Nothing is written when the scan finds anything; it names file and kind, never the value.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

from fairtrial.analysis.export import _secrets
from fairtrial.analysis.export._source import Source, dump
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import canonical, file_digest
from fairtrial.paths import Results

HELP = "bundle what a published number rests on; blocked when a secret is found in it"
MOST_NAMED = 20


def export(source: Source, out: Path) -> list[Path]:
    """Scan, then write the bundle; UserError that names files and kinds when something is found."""
    files = sorted(_files(source))
    found = _secrets.scan(files, source.secrets, {"matrix.json": canonical(source.matrix)})
    if found:
        raise UserError(_blocked(found))
    out.mkdir(parents=True, exist_ok=True)
    bundle = out / "evidence.tar.gz"
    _write(bundle, files, source)
    digests = {name: file_digest(path) for name, path in files}
    record = {"schema_version": 1, "experiment": source.matrix["name"], "matrix_sha256": source.matrix["digest"],
              "bundle_sha256": file_digest(bundle), "files": digests}  # fmt: skip
    dump(out / "evidence.json", record)
    return [bundle, out / "evidence.json"]


def _blocked(found: list[_secrets.Finding]) -> str:
    lines = [f"{finding.file}: looks like {finding.kind}" for finding in found[:MOST_NAMED]]
    more = [f"and {len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
    advice = "revoke what is real, then `fairtrial redo` or `fairtrial exclude` the attempts it stands in"
    return "\n".join(["export evidence: blocked, nothing was written; " + advice, *lines, *more])


def _files(source: Source) -> Iterator[tuple[str, Path]]:
    """(name in the bundle, path) of everything; links are not followed."""
    for folder, name in ((source.dataset, "dataset"), (source.scorecard, "scorecard"), (source.report, "report")):
        if folder is not None:
            yield from ((f"{name}/{path.name}", path) for path in folder.iterdir() if _plain(path))
    seen: set[str] = set()
    for row in source.rows:
        if row["status"] not in ("done", "excluded"):
            continue
        folder, results = source.folder(row), source.tree(row)
        for path in folder.rglob("*"):
            if _plain(path) and path.name != "lease.json":
                yield f"attempts/{row['attempt_id']}/{path.relative_to(folder).as_posix()}", path
        for path in (results.recipe(row["recipe"]), results.gradespec(row["grade"])):
            if path.name not in seen and _plain(path):
                seen.add(path.name)
                yield path.relative_to(results.root).as_posix(), path
        yield from _prompt(source, results, folder, seen)


def _prompt(source: Source, results: Results, folder: Path, seen: set[str]) -> Iterator[tuple[str, Path]]:
    digest = source.record(folder / "evidence.json").get("recipe", {}).get("prompt_sha256")
    if digest and digest not in seen and _plain(results.blob(digest)):
        seen.add(digest)
        yield results.blob(digest).relative_to(results.root).as_posix(), results.blob(digest)


def _plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _write(bundle: Path, files: list[tuple[str, Path]], source: Source) -> None:
    temporary = bundle.with_name(f".{bundle.name}.tmp")
    with (
        temporary.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        _add(tar, "matrix.json", canonical(source.matrix))
        for name, path in files:
            _add(tar, name, path.read_bytes())
    temporary.rename(bundle)


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(f"evidence/{name}")
    entry.size, entry.mode = len(content), 0o644
    tar.addfile(entry, io.BytesIO(content))
