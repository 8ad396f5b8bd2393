import unittest

from units import UnitError, to_metres


class Length(unittest.TestCase):
    def test_kilometres(self):
        self.assertEqual(to_metres(2, "km"), 2000.0)

    def test_inches(self):
        self.assertAlmostEqual(to_metres(10, "in"), 0.254)

    def test_unknown(self):
        with self.assertRaises(UnitError):
            to_metres(1, "mile")
