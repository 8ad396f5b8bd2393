"""Records in text files."""

from shelf.store import fetch_all_pages, load_records, save

__all__ = ["fetch_all_pages", "load_records", "save"]
