"""Tests of parcel, from its price list."""

import unittest

from parcel import order, price


class Price(unittest.TestCase):
    def test_base_price_up_to_one_kilogram(self):
        for zone, cents in (("A", 400), ("B", 650), ("C", 900)):
            self.assertEqual(price(1, zone), cents)
            self.assertEqual(price(1000, zone), cents)

    def test_each_kilogram_that_is_begun(self):
        self.assertEqual(price(1001, "A"), 520)
        self.assertEqual(price(2000, "B"), 830)
        self.assertEqual(price(2001, "C"), 1400)

    def test_surcharge_above_twenty_kilograms(self):
        self.assertEqual(price(20_000, "A"), 400 + 19 * 120)
        self.assertEqual(price(20_001, "A"), 400 + 20 * 120 + 800)

    def test_express(self):
        self.assertEqual(price(500, "A", True), 600)
        self.assertEqual(price(500, "A", express=False), 400)

    def test_express_is_rounded_up(self):
        self.assertEqual(price(500, "B", True), 980)
        self.assertEqual(price(1500, "C", True), 1730)

    def test_express_does_not_raise_the_surcharge(self):
        self.assertEqual(price(20_001, "A", True), 4200 + 800)

    def test_lightest_and_heaviest(self):
        self.assertEqual(price(30_000, "A"), 400 + 29 * 120 + 800)
        for grams in (0, -5, 30_001):
            with self.assertRaises(ValueError):
                price(grams, "A")

    def test_zones(self):
        for zone in ("D", "a", ""):
            with self.assertRaisesRegex(ValueError, "no such zone"):
                price(100, zone)


class Order(unittest.TestCase):
    def test_no_parcels(self):
        self.assertEqual(order([]), 0)

    def test_up_to_nine_parcels(self):
        self.assertEqual(order([(1, "A", False)] * 9), 3600)
        self.assertEqual(order([(1, "A", True), (1, "B", False)]), 1250)

    def test_from_ten_on(self):
        self.assertEqual(order([(1, "A", False)] * 10), 3800)
        self.assertEqual(order([(1, "A", False)] * 49), 18_620)

    def test_from_fifty_on(self):
        self.assertEqual(order([(1, "A", False)] * 50), 17_600)

    def test_rounded_down(self):
        self.assertEqual(order([(1, "B", False)] * 10 + [(1, "B", False)]), 6792)
