"""A cache that forgets what was used least recently."""


class Cache:
    """At most `capacity` entries; the last key of the list is the most recently used."""

    def __init__(self, capacity):
        if capacity < 1:
            raise ValueError("capacity must be 1 or more")
        self.capacity, self.hits, self.misses = capacity, 0, 0
        self.values, self.order = {}, []

    def __len__(self):
        return len(self.values)

    def __contains__(self, key):
        return key in self.values

    def use(self, key):
        self.order.remove(key)
        self.order.append(key)

    def get(self, key, default=None):
        if key not in self.values:
            self.misses += 1
            return default
        self.hits += 1
        self.use(key)
        return self.values[key]

    def peek(self, key, default=None):
        return self.values.get(key, default)

    def put(self, key, value):
        if key not in self.values:
            self.order.append(key)
        self.values[key] = value
        self.use(key)
        if len(self.values) <= self.capacity:
            return None
        old = self.order.pop(0)
        del self.values[old]
        return old

    def drop(self, key):
        if key not in self.values:
            return False
        self.order.remove(key)
        del self.values[key]
        return True

    def keys(self):
        return self.order[::-1]
