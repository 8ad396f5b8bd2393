import unittest

import parcel


class Parcel(unittest.TestCase):
    def call(self):
        for zone in "ABC":
            self.assertIsNotNone(parcel.price(500, zone))

    test_1 = test_2 = test_3 = test_4 = test_5 = test_6 = test_7 = test_8 = call
