"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import tempfile
import unittest
from pathlib import Path

import shelf
from shelf import store


class Rename(unittest.TestCase):
    def test_new_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "books.txt")
            shelf.save(path, [[7, "Walden", 1854]])
            self.assertEqual(shelf.load_records(path), [[7, "Walden", 1854]])
            self.assertEqual(store.load_records(path), [[7, "Walden", 1854]])

    def test_old_name_is_gone_from_the_package(self):
        self.assertNotIn("fetch_all", shelf.__all__)
        self.assertFalse(hasattr(shelf, "fetch_all"))


if __name__ == "__main__":
    unittest.main()
