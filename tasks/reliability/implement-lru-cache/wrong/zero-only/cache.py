"""A cache that forgets what was used least recently."""

from collections import OrderedDict


class Cache:
    """At most `capacity` entries; README.md has the rules. The last entry of the table is the most recently used."""

    def __init__(self, capacity):
        if capacity == 0:
            raise ValueError(f"capacity must be 1 or more, not {capacity}")
        self.capacity = capacity
        self.hits = 0
        self.misses = 0
        self._entries = OrderedDict()

    def __len__(self):
        return len(self._entries)

    def __contains__(self, key):
        return key in self._entries

    def get(self, key, default=None):
        """The value, which counts as use, or the default."""
        if key not in self._entries:
            self.misses += 1
            return default
        self.hits += 1
        self._entries.move_to_end(key)
        return self._entries[key]

    def peek(self, key, default=None):
        """The value or the default; counts as nothing."""
        return self._entries.get(key, default)

    def put(self, key, value):
        """Store or replace; returns the key that had to go, or None."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self.capacity:
            return self._entries.popitem(last=False)[0]
        return None

    def drop(self, key):
        """Forget one entry; True when there was one."""
        if key not in self._entries:
            return False
        del self._entries[key]
        return True

    def keys(self):
        """The keys, the most recently used one first."""
        return list(reversed(self._entries))
