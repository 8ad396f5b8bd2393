"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import unittest

import barcode


class Barcode(unittest.TestCase):
    def test_right_codes(self):
        for kind, code in (("ean13", "4006381333931"), ("ean8", "73513537"), ("isbn", "0-306-40615-2")):
            self.assertTrue(barcode.check(kind, code), code)

    def test_a_code_that_ends_with_zero(self):
        self.assertTrue(barcode.check("ean13", "4006381333610"))

    def test_wrong_codes(self):
        for kind, code in (("ean13", "4006381333930"), ("ean13", "400638133361"), ("isbn", "0-306-40615-3")):
            self.assertFalse(barcode.check(kind, code), code)


if __name__ == "__main__":
    unittest.main()
