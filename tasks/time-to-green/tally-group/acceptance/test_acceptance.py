"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SALES = "city,day,amount\nOslo,mon,10\nBergen,mon,12.25\nOslo,tue,5\nTromso,tue,\n"


class Group(unittest.TestCase):
    def tally(self, *argv):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sales.csv"
            path.write_text(SALES, encoding="utf-8")
            argv = [str(path) if part == "FILE" else part for part in argv]
            done = subprocess.run(
                [sys.executable, "-m", "tally", *argv], capture_output=True, text=True, timeout=30, check=False
            )
        return done.returncode, done.stdout, done.stderr

    def test_by_city(self):
        expected = "city,count,sum\nOslo,2,15\nBergen,1,12.25\nTromso,0,0\n"
        self.assertEqual(self.tally("group", "FILE", "city", "amount"), (0, expected, ""))

    def test_by_day(self):
        expected = "day,count,sum\nmon,2,22.25\ntue,1,5\n"
        self.assertEqual(self.tally("group", "FILE", "day", "amount"), (0, expected, ""))

    def test_not_a_number(self):
        self.assertEqual(self.tally("group", "FILE", "city", "day"), (2, "", "tally: not a number: 'mon'\n"))


if __name__ == "__main__":
    unittest.main()
