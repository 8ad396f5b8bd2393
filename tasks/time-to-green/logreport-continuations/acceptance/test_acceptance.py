"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LOG = """2024-05-06 10:00:00 ERROR web: boom
  at handler.py:12
    at main.py:3
2024-05-06 10:00:01 INFO web: restarted
2024-05-06 10:00:02 FATAL db: gone
\tat store.c:77
junk
"""


class Continuations(unittest.TestCase):
    def report(self, *argv):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "app.log"
            path.write_text(LOG, encoding="utf-8")
            argv = [sys.executable, "logreport.py", *argv, str(path)]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_errors(self):
        expected = (
            "2024-05-06 10:00:00 ERROR web: boom\n  at handler.py:12\n    at main.py:3\n"
            "2024-05-06 10:00:02 FATAL db: gone\n\tat store.c:77\n"
        )
        self.assertEqual(self.report("errors"), (0, expected))

    def test_summary(self):
        out = self.report("summary")[1]
        self.assertTrue(out.startswith("entries:   3\nbad lines: 1\n"), out)

    def test_hours(self):
        self.assertEqual(self.report("hours"), (0, f"10     3 {'#' * 40}\n"))


if __name__ == "__main__":
    unittest.main()
