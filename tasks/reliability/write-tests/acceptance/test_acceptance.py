"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Tests(unittest.TestCase):
    def test_the_tests_pass_and_are_eight_or_more(self):
        self.assertTrue((ROOT / "tests" / "test_parcel.py").is_file(), "tests/test_parcel.py is missing")
        argv = [sys.executable, "-m", "unittest", "tests.test_parcel"]
        done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        ran = re.search(r"^Ran (\d+) tests? in ", done.stderr, re.MULTILINE)
        self.assertIsNotNone(ran, done.stderr)
        self.assertGreaterEqual(int(ran[1]), 8)


if __name__ == "__main__":
    unittest.main()
