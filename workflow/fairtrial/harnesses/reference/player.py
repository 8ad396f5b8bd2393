"""Plays a solution in the current folder: solve-<toolset>.sh, else solve.sh, else its files laid over."""

import shutil
import subprocess
import sys
from pathlib import Path


def main(solution: Path, toolset: str) -> int:
    """Exit status of the script, or 0."""
    for name in (f"solve-{toolset}.sh", "solve.sh"):
        script = solution / name
        if script.is_file():
            return subprocess.run(["bash", str(script)], check=False).returncode
    shutil.copytree(solution, ".", symlinks=True, dirs_exist_ok=True, copy_function=shutil.copyfile)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
