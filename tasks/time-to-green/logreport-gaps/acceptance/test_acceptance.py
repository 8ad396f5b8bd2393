"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LOG = """2024-05-06 10:00:00 INFO web: up
2024-05-06 10:00:00 INFO db: up
2024-05-06 10:05:00 WARN web: slow
2024-05-06 10:05:30 INFO web: ok
2024-05-06 12:00:00 ERROR db: down
"""


class Gaps(unittest.TestCase):
    def report(self, *argv):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "app.log"
            path.write_text(LOG, encoding="utf-8")
            argv = [sys.executable, "logreport.py", *argv, str(path)]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_longest_first(self):
        expected = (
            "   6870 s  2024-05-06 10:05:30  2024-05-06 12:00:00\n"
            "    300 s  2024-05-06 10:00:00  2024-05-06 10:05:00\n"
            "     30 s  2024-05-06 10:05:00  2024-05-06 10:05:30\n"
        )
        self.assertEqual(self.report("gaps"), (0, expected))

    def test_the_longest_only(self):
        self.assertEqual(self.report("gaps", "-n", "1"), (0, "   6870 s  2024-05-06 10:05:30  2024-05-06 12:00:00\n"))

    def test_from_a_level_on(self):
        expected = "   6900 s  2024-05-06 10:05:00  2024-05-06 12:00:00\n"
        self.assertEqual(self.report("gaps", "-l", "WARN"), (0, expected))


if __name__ == "__main__":
    unittest.main()
