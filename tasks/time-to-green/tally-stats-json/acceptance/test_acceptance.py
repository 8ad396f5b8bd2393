"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROWS = "name,size,note\nane,4,x\nbo,,x\ncai,10,x\ndee,7,x\neli,3,x\n"
KEYS = ["column", "count", "sum", "min", "max", "mean", "median"]


class StatsJson(unittest.TestCase):
    def tally(self, *argv):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.csv"
            path.write_text(ROWS, encoding="utf-8")
            argv = [str(path) if part == "FILE" else part for part in argv]
            return subprocess.run(
                [sys.executable, "-m", "tally", *argv], capture_output=True, text=True, timeout=30, check=False
            )

    def test_one_line_with_seven_keys_in_order(self):
        done = self.tally("stats", "FILE", "size", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("\n"), 1)
        self.assertEqual(list(json.loads(done.stdout)), KEYS)

    def test_figures(self):
        figures = json.loads(self.tally("stats", "FILE", "size", "--json").stdout)
        self.assertEqual(figures, dict(zip(KEYS, ["size", 4, 24, 3, 10, 6, 5.5], strict=True)))

    def test_without_the_flag_nothing_changes(self):
        done = self.tally("stats", "FILE", "size")
        self.assertEqual(done.stdout, "count: 4\nsum: 24\nmin: 3\nmax: 10\nmean: 6\nmedian: 5.5\n")

    def test_unknown_column(self):
        done = self.tally("stats", "FILE", "weight", "--json")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "tally: no column 'weight' (columns: name, size, note)\n")


if __name__ == "__main__":
    unittest.main()
