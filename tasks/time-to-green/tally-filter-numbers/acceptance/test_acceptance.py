"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STOCK = "item,qty,day\nnut,7,2024-03-09\nnail,12,2024-03-10\nhook,100,2024-11-01\nrope,,2024-03-11\n"


class FilterNumbers(unittest.TestCase):
    def kept(self, *conditions):
        """First cell of each row that `tally filter` prints, the header left out."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stock.csv"
            path.write_text(STOCK, encoding="utf-8")
            argv = [sys.executable, "-m", "tally", "filter", str(path), *conditions]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line.split(",")[0] for line in done.stdout.splitlines()[1:]]

    def test_greater(self):
        self.assertEqual(self.kept("qty>10"), ["nail", "hook"])

    def test_smaller(self):
        self.assertEqual(self.kept("qty<100"), ["nut", "nail"])

    def test_between(self):
        self.assertEqual(self.kept("qty>7", "qty<99"), ["nail"])

    def test_days_are_text(self):
        self.assertEqual(self.kept("day>2024-03-09", "day<2024-03-12"), ["nail", "rope"])


if __name__ == "__main__":
    unittest.main()
