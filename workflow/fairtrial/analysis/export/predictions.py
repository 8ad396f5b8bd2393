"""SWE-bench predictions: JSON lines, one file per arm and repetition. A fault is left out, never an empty patch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fairtrial.analysis.export._source import LATE, Source, arm_name

HELP = "write SWE-bench predictions, one JSONL file per arm and repetition; faults are left out"
Json = dict[str, Any]


def export(source: Source, out: Path) -> list[Path]:
    """<out>/<arm>.r<n>.jsonl; an attempt whose change was not captured is left out, and so is a fault found late."""
    files: dict[str, list[Json]] = {}
    for row in source.with_result():
        patch = source.folder(row) / "workspace.patch"
        if row["ending"] == LATE or not patch.is_file():
            continue
        arm = arm_name(row).replace("/", "+").replace(" (simulated)", "+simulated")
        name = f"{arm}.r{row['repetition']}.jsonl"
        files.setdefault(name, []).append({
            "instance_id": f"{row['suite']}__{row['task']}",
            "model_name_or_path": arm_name(row),
            "model_patch": patch.read_bytes().decode("utf-8", "replace"),
        })  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name, lines in sorted(files.items()):
        _once(name, lines)
        path = out / name
        path.write_bytes(
            "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode("utf-8", "replace")
        )
        written.append(path)
    return written


def _once(name: str, lines: list[Json]) -> None:
    """Two recipes of one task in one file (a selection may hold both) get names that differ."""
    seen: dict[str, int] = {}
    for line in lines:
        key = line["instance_id"]
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            line["instance_id"] = f"{key}.{seen[key]}"
