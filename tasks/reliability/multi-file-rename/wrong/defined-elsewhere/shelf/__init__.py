"""Records in text files."""

from shelf import store
from shelf.store import fetch_all_pages, save

__all__ = ["fetch_all_pages", "load_records", "save"]


def load_records(path):
    """All records of a file."""
    return store.fetch_all(path)


store.load_records = load_records
