"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import unittest

from pages import addresses
from slugs import slugify


class Slugify(unittest.TestCase):
    def test_words(self):
        self.assertEqual(slugify("Hello, World!"), "hello-world")
        self.assertEqual(slugify("  Release 2.0 -- notes "), "release-2-0-notes")

    def test_accents_and_apostrophes(self):
        self.assertEqual(slugify("Café Déjà-vu"), "cafe-deja-vu")
        self.assertEqual(slugify("Don't panic"), "dont-panic")

    def test_longest(self):
        self.assertEqual(slugify("one two three", longest=9), "one-two")

    def test_nothing_left(self):
        self.assertEqual(slugify("?!"), "untitled")

    def test_addresses(self):
        self.assertEqual(addresses(["A b", "a-B", "c"]), ["/a-b/", "/a-b-2/", "/c/"])


if __name__ == "__main__":
    unittest.main()
