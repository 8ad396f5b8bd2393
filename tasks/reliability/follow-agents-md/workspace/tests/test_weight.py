import unittest

from units import UnitError, to_grams


class Weight(unittest.TestCase):
    def test_kilograms(self):
        self.assertEqual(to_grams(2, "kg"), 2000.0)

    def test_stones(self):
        self.assertAlmostEqual(to_grams(1, "st"), 6350.29318)

    def test_unknown(self):
        with self.assertRaises(UnitError):
            to_grams(1, "oz")
