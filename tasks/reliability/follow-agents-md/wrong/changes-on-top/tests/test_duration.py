import unittest

from units import UnitError, to_seconds


class Duration(unittest.TestCase):
    def test_each_unit(self):
        for unit, seconds in (("s", 3), ("min", 180), ("h", 10800), ("d", 259200)):
            self.assertEqual(to_seconds(3, unit), seconds)

    def test_unknown_unit(self):
        with self.assertRaises(UnitError):
            to_seconds(1, "fortnight")

    def test_negative_amount(self):
        with self.assertRaises(UnitError):
            to_seconds(-1, "h")
