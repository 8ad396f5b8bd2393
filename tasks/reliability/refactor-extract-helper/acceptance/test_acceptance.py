"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import unittest

import budget

TEXT = """rent = 800   # per month

Tea  and cake = 12,50
tea and CAKE = 2
"""


class Budget(unittest.TestCase):
    def test_entries(self):
        pairs = [tuple(pair) for pair in budget.entries(TEXT)]
        self.assertEqual(pairs, [("rent", 800.0), ("tea and cake", 12.5), ("tea and cake", 2.0)])

    def test_bad_line(self):
        with self.assertRaises(ValueError) as caught:
            list(budget.entries("a = 1\nb = x\n"))
        self.assertEqual(str(caught.exception), "line 2: 'b = x'")

    def test_totals(self):
        self.assertEqual(budget.totals(TEXT), {"rent": 800.0, "tea and cake": 14.5})

    def test_over(self):
        self.assertEqual(budget.over(TEXT, 10), ["rent", "tea and cake"])

    def test_changes(self):
        self.assertEqual(budget.changes("a = 1\nb = 2", "b = 3\nc = 4"), [["a", 1, None], ["b", 2, 3], ["c", None, 4]])


if __name__ == "__main__":
    unittest.main()
