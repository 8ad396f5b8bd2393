"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import tomllib
import unittest
from pathlib import Path

STAGING = Path(__file__).resolve().parent.parent / "config" / "staging.toml"


class Staging(unittest.TestCase):
    def setUp(self):
        self.config = tomllib.loads(STAGING.read_text(encoding="utf-8"))

    def test_server_workers(self):
        self.assertEqual(self.config["server"]["workers"], 8)

    def test_cache_time(self):
        self.assertEqual(self.config["cache"]["ttl_seconds"], 60)

    def test_queues(self):
        self.assertEqual(self.config["jobs"]["queues"], ["mail", "thumbnails", "export", "reports"])


if __name__ == "__main__":
    unittest.main()
