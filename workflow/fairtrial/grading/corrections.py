"""corrections/corrected-verifier.json: a published correction of what a faulty verifier said about known attempts.

    {"schema_version": 1,
     "corrections": [{"end_tree": tree id of the final workspace the verdict is about,
                      "verifier_sha256": digest of the verifier's sources at that time (verifier_digest),
                      "checks": {"name of the check": true | false, ...},
                      "reason": "what the verifier got wrong"}]}

A correction applies only where both hashes are those of the graded attempt. It changes named checks of a verdict the
verifier reached and nothing else: an ending, a fault, a verifier_error and the visible green command stay as they are.
Raw and effective grade are two grade folders, because the file is part of the grade digest.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import UserError
from fairtrial.grading.judge import Judgement
from fairtrial.plan.files import CORRECTION

VERSION = 1
_KEYS = {"end_tree", "verifier_sha256", "checks", "reason"}


def verifier_digest(entries: Iterable[Mapping[str, Any]]) -> str:
    """sha256 of a verifier's sources, from its manifest (gradespec.verifier): order and file sizes do not matter."""
    rows = sorted([e["path"], e["mode"], e.get("sha256"), e.get("target")] for e in entries)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def read(path: Path, declared: Mapping[str, str]) -> list[dict[str, Any]]:
    """The corrections of a task. UserError names the file, the entry and what is allowed."""
    try:
        document = json.loads(path.read_bytes())
    except ValueError as e:
        raise UserError(f"{path}: not valid JSON: {e}") from None
    if not isinstance(document, dict) or document.get("schema_version") != VERSION:
        raise UserError(f'{path}: schema_version: must be {VERSION}; beside it stands "corrections", a list')
    rows = document.get("corrections")
    if not isinstance(rows, list) or set(document) != {"schema_version", "corrections"}:
        raise UserError(f"{path}: allowed keys are schema_version and corrections (a list)")
    for number, row in enumerate(rows):
        if problem := _problem(row, declared):
            raise UserError(f"{path}: corrections[{number}]: {problem}")
    return rows


def _problem(row: Any, declared: Mapping[str, str]) -> str | None:
    if not isinstance(row, dict) or set(row) != _KEYS:
        return f"needs exactly the keys {', '.join(sorted(_KEYS))}"
    if not all(isinstance(row[key], str) and row[key].strip() for key in ("end_tree", "verifier_sha256", "reason")):
        return "end_tree, verifier_sha256 and reason must be text that is not empty"
    checks = row["checks"]
    if not isinstance(checks, dict) or not checks or not all(isinstance(v, bool) for v in checks.values()):
        return "checks: must map names of checks to true or false"
    unknown = [name for name in checks if name not in declared]
    return f"checks: {unknown[0]!r} is not declared; known: {', '.join(declared)}" if unknown else None


def effective(raw: Judgement, task: Path, spec: Mapping[str, Any], end_tree: str) -> Judgement:
    """`raw`, or what a correction of the placed package `task` makes of it; then its raw_verdict is set.

    `spec`: the gradespec; `end_tree`: id of the judged final tree.
    """
    path = task / CORRECTION
    if not path.is_file():
        return raw
    rows = read(path, spec["verifier_settings"]["checks"])
    return apply(raw, rows, end_tree=end_tree, verifier_sha256=verifier_digest(spec["verifier"]))[0]


def apply(
    raw: Judgement, corrections: Iterable[Mapping[str, Any]], *, end_tree: str, verifier_sha256: str
) -> tuple[Judgement, str | None]:
    """The effective judgement and the reason of the correction applied, or `raw` itself and None.

    A verifier_error and a suspect are execution failures and are never pardoned; `acceptance` is not the verifier's
    word and stays. The last matching correction wins.
    """
    if raw.verdict == "verifier_error" or raw.suspect:
        return raw, None
    matching = [c for c in corrections if c["end_tree"] == end_tree and c["verifier_sha256"] == verifier_sha256]
    if not matching:
        return raw, None
    chosen = matching[-1]
    corrected = copy.deepcopy(raw)
    for row in corrected.checks:
        said = chosen["checks"].get(row["name"])
        if row["name"] != "acceptance" and said is not None and said != row["passed"]:
            row["detail"] = f"corrected ({chosen['reason']}); the verifier said: {row['detail'] or 'passed'}"
            row["passed"] = said
    corrected.verdict = "passed" if all(row["passed"] for row in corrected.checks) else "failed"
    corrected.raw_verdict = raw.verdict
    return corrected, str(chosen["reason"])
