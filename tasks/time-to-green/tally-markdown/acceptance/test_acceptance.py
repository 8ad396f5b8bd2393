"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = 'tool,price,shelf\nsaw,12.50,A1\n"file, flat",,B2\nrasp,8,a|b\n'


class Markdown(unittest.TestCase):
    def tally(self, *argv):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tools.csv"
            path.write_text(TOOLS, encoding="utf-8")
            argv = [str(path) if part == "FILE" else part for part in argv]
            done = subprocess.run(
                [sys.executable, "-m", "tally", *argv], capture_output=True, text=True, timeout=30, check=False
            )
        return done.returncode, done.stdout

    def test_head(self):
        expected = (
            "| tool | price | shelf |\n| --- | ---: | --- |\n| saw | 12.50 | A1 |\n"
            "| file, flat |  | B2 |\n| rasp | 8 | a\\|b |\n"
        )
        self.assertEqual(self.tally("head", "FILE", "--format", "markdown"), (0, expected))

    def test_filter(self):
        expected = "| tool | price | shelf |\n| --- | ---: | --- |\n| saw | 12.50 | A1 |\n"
        self.assertEqual(self.tally("filter", "FILE", "shelf=A1", "--format", "markdown"), (0, expected))

    def test_csv_by_default_and_by_name(self):
        expected = "tool,price,shelf\nsaw,12.50,A1\n"
        self.assertEqual(self.tally("head", "FILE", "-n", "1"), (0, expected))
        self.assertEqual(self.tally("head", "FILE", "-n", "1", "--format", "csv"), (0, expected))

    def test_other_formats_are_refused(self):
        self.assertEqual(self.tally("head", "FILE", "--format", "html"), (2, ""))


if __name__ == "__main__":
    unittest.main()
