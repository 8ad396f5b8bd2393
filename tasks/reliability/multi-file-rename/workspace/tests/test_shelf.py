"""Tests of shelf."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import shelf
from shelf.store import fetch_all as read


class Store(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(Path(folder.name) / "books.txt")

    def test_save_and_fetch_all(self):
        shelf.save(self.path, [[1, "Emma", 1815], [2, "Dracula", 1897]])
        self.assertEqual(shelf.fetch_all(self.path), [[1, "Emma", 1815], [2, "Dracula", 1897]])
        self.assertEqual(read(self.path), shelf.fetch_all(self.path))

    def test_pages(self):
        with mock.patch("shelf.store.fetch_all", return_value=[1, 2, 3]):
            self.assertEqual(shelf.fetch_all_pages("any", 2), [[1, 2], [3]])
