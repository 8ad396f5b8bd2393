"""`make smoke-vc`: were all reference attempts of the experiment `vc` green, and was each toolset really used?"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

RESULTS = Path("results")


def main() -> int:
    """0 when every planned attempt is green. A missing tool is said, and fails where all tools are to be there."""
    matrix = json.loads((RESULTS / "vc" / "matrix.json").read_bytes())
    bad, tools = [], set()
    for cell in matrix["cells"]:
        name = "/".join(cell[key] for key in ("suite", "task", "harness", "model", "recipe"))
        path = RESULTS / "attempts" / name / "r1" / "grades" / cell["grade"] / "result.json"
        outcome = json.loads(path.read_bytes())["outcome"] if path.is_file() else "no result"
        tools.add(cell["toolset"])
        if outcome != "green":
            bad.append(f"{cell['task']} with {cell['toolset']}: {outcome}")
    for line in bad:
        print(line)
    for entry in matrix["skipped"]:
        print(f"skipped: {entry['what']}: {entry['why']}")
    print(f"{len(matrix['cells']) - len(bad)} of {len(matrix['cells'])} green, with {' and '.join(sorted(tools))}")
    lacking = bool(matrix["skipped"]) and os.environ.get("FAIRTRIAL_NO_SKIP") == "1"
    return int(bool(bad) or lacking)


if __name__ == "__main__":
    sys.exit(main())
