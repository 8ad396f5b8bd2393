"""Print start.json of a version-control task: what its workspace.sh builds, as the checks compare with it.

python .ci/vc_start.py tasks/version-control/NAME > start.json && mv start.json tasks/version-control/NAME/verifier/
After every change of workspace.sh; a test compares.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(PACKAGE / "verifier"))

from repo import QUIET, look, worktree  # noqa: E402 - it lies in the package that is named


class Here:
    """Runs at once what a verifier would box: workspace.sh is the package's own."""

    def run(self, argv, *, at, env, files):
        """Like Verification.run, but for the files, which need not be laid over."""
        return subprocess.run(argv, cwd=at, env={**os.environ, **env}, capture_output=True, check=True)

    def ok(self, result):
        """The result itself."""
        return result

    def text(self, path, folder):
        """A file as text."""
        return (folder / path).read_text()


def main() -> None:
    """Build, look, print."""
    script = PACKAGE / "workspace.sh"
    with tempfile.TemporaryDirectory(prefix="start-") as name:
        folder = Path(name)
        subprocess.run(["bash", str(script)], cwd=folder, env={**os.environ, **QUIET}, check=True)
        git_dirs = (".git", *sorted(path.name for path in folder.glob("?*.git")))
        repositories = [
            {
                "head": found.named,
                "refs": found.refs,
                "index": found.index,
                "objects": {sha: [kind, raw.decode("latin-1")] for sha, (kind, raw) in sorted(found.objects.items())},
            }
            for found in look(Here(), folder, git_dirs)
        ]
        files = worktree(folder, git_dirs)
    print(json.dumps({"repositories": repositories, "worktree": files}, indent=1, sort_keys=True))


main()
