"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LOG = """2024-05-06 07:00:00 INFO cron: tick
2024-05-06 07:30:00 ERROR web: 500
2024-05-06 07:31:00 INFO db: vacuum
not an entry
2024-05-06 08:00:00 INFO cron: tick
"""


class Exclude(unittest.TestCase):
    def report(self, *argv):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "app.log"
            path.write_text(LOG, encoding="utf-8")
            argv = [sys.executable, "logreport.py", *argv, str(path)]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_summary(self):
        expected = (
            "entries:   2\nbad lines: 1\nfirst:     2024-05-06 07:30:00\nlast:      2024-05-06 07:31:00\n"
            "span:      60 s\nlevels:\n  ERROR            1\n  INFO             1\n"
            "components:\n  db               1\n  web              1\n"
        )
        self.assertEqual(self.report("summary", "-x", "cron"), (0, expected))

    def test_errors(self):
        self.assertEqual(self.report("errors", "-x", "web"), (0, ""))

    def test_hours(self):
        self.assertEqual(self.report("hours", "-x", "web"), (0, f"07     2 {'#' * 40}\n08     1 {'#' * 20}\n"))


if __name__ == "__main__":
    unittest.main()
