"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import unittest

from cache import Cache
from lookup import Lookup


class CacheTest(unittest.TestCase):
    def test_get_and_put(self):
        cache = Cache(2)
        cache.put("a", 1)
        self.assertEqual((cache.get("a"), cache.get("b"), cache.get("b", 7)), (1, None, 7))
        self.assertEqual((cache.hits, cache.misses), (1, 2))

    def test_the_least_recently_used_goes(self):
        cache = Cache(2)
        cache.put("a", 1)
        cache.put("b", 2)
        cache.get("a")
        self.assertEqual(cache.put("c", 3), "b")
        self.assertEqual(cache.keys(), ["c", "a"])
        self.assertNotIn("b", cache)

    def test_drop(self):
        cache = Cache(2)
        cache.put("a", 1)
        self.assertEqual((cache.drop("a"), cache.drop("a"), len(cache)), (True, False, 0))

    def test_capacity(self):
        with self.assertRaises(ValueError):
            Cache(0)

    def test_lookup_asks_once(self):
        asked = []
        lookup = Lookup(asked.append)
        lookup("x")
        lookup("x")
        self.assertEqual(asked, ["x"])


if __name__ == "__main__":
    unittest.main()
