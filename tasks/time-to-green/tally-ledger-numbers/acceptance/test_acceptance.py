"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LEDGER = 'entry,amount,total\nrent,"(1,200)","12,34"\nfees,(7.25),1\npay,"2,500.50",2\ntea,-3,3\n'


class LedgerNumbers(unittest.TestCase):
    def tally(self, *argv):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ledger.csv"
            path.write_text(LEDGER, encoding="utf-8")
            argv = [str(path) if part == "FILE" else part for part in argv]
            done = subprocess.run(
                [sys.executable, "-m", "tally", *argv], capture_output=True, text=True, timeout=30, check=False
            )
        return done.returncode, done.stdout, done.stderr

    def test_sum(self):
        self.assertEqual(self.tally("sum", "FILE", "amount"), (0, "1290.25\n", ""))

    def test_stats(self):
        expected = "count: 4\nsum: 1290.25\nmin: -1200\nmax: 2500.5\nmean: 322.56\nmedian: -5.12\n"
        self.assertEqual(self.tally("stats", "FILE", "amount"), (0, expected, ""))

    def test_groups_of_two_are_no_number(self):
        self.assertEqual(self.tally("sum", "FILE", "total"), (2, "", "tally: not a number: '12,34'\n"))


if __name__ == "__main__":
    unittest.main()
