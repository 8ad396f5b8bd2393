"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TEXT = "The cat and the dog. The dog, too!\n"


class Ignore(unittest.TestCase):
    def words(self, *argv, ignore="the\nAND  # small words\n"):
        with tempfile.TemporaryDirectory() as folder:
            names = {"TEXT": TEXT, "IGNORE": ignore}
            for name, content in names.items():
                (Path(folder) / name).write_text(content, encoding="utf-8")
            argv = [str(Path(folder) / part) if part in names else part for part in argv]
            argv = [sys.executable, "words.py", *argv]
            done = subprocess.run(argv, capture_output=True, timeout=30, check=False)
        return done.returncode, done.stdout.decode()

    def test_ignored_words(self):
        expected = "  count    share  word \n      2    50.0%  dog \n      1    25.0%  cat \n      1    25.0%  too \n"
        self.assertEqual(self.words("--ignore", "IGNORE", "TEXT"), (0, expected + "\n4 words, 3 different\n"))

    def test_default(self):
        expected = "  count    share  word \n      3    37.5%  the \n      2    25.0%  dog \n"
        self.assertEqual(self.words("--least", "2", "TEXT"), (0, expected + "\n8 words, 5 different\n"))

    def test_a_list_that_is_not_there(self):
        self.assertEqual(self.words("--ignore", "no-such-list", "TEXT"), (2, ""))


if __name__ == "__main__":
    unittest.main()
