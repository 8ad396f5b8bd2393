import unittest


class Duration(unittest.TestCase):
    def test_one(self):
        self.assertTrue(True)

    def test_two(self):
        self.assertTrue(True)

    def test_three(self):
        self.assertTrue(True)
