"""Slow answers, remembered."""

from cache import Cache

ABSENT = object()


class Lookup:
    """Asks `source` for what the cache does not hold."""

    def __init__(self, source, capacity=100):
        self.source = source
        self.cache = Cache(capacity)

    def __call__(self, key):
        value = self.cache.get(key, default=ABSENT)
        if value is ABSENT:
            value = self.source(key)
            self.cache.put(key, value)
        return value
