"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import unittest

import units


class Seconds(unittest.TestCase):
    def test_units(self):
        self.assertEqual(units.to_seconds(90, "s"), 90)
        self.assertEqual(units.to_seconds(1.5, "min"), 90)
        self.assertEqual(units.to_seconds(2, "h"), 7200)
        self.assertEqual(units.to_seconds(1, "d"), 86400)


if __name__ == "__main__":
    unittest.main()
