"""Tests of spans. Run them with: python3 -m unittest acceptance.test_acceptance"""

import unittest

from spans import free, merge, parse, total


class Spans(unittest.TestCase):
    def test_parse(self):
        self.assertEqual(parse("09:00-10:30"), [540, 630])
        self.assertEqual(parse("23:00-24:00"), [1380, 1440])

    def test_parse_refuses(self):
        for text in ("", "9:00-10:00", "10:00-09:00", "10:00-10:60", "10:00-24:01"):
            with self.assertRaises(ValueError):
                parse(text)

    def test_merge_overlapping(self):
        self.assertEqual(merge([[60, 120], [90, 180], [300, 310]]), [[60, 180], [300, 310]])

    def test_merge_touching(self):
        self.assertEqual(merge([[120, 180], [60, 120]]), [[60, 180]])

    def test_merge_one_inside_another(self):
        self.assertEqual(merge([[540, 720], [560, 600]]), [[540, 720]])

    def test_total(self):
        self.assertEqual(total([[0, 30], [20, 50]]), 50)

    def test_free(self):
        self.assertEqual(free([[540, 600], [660, 720]], 480, 780), [[480, 540], [600, 660], [720, 780]])


if __name__ == "__main__":
    unittest.main()
