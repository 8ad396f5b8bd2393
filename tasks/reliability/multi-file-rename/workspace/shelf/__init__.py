"""Records in text files."""

from shelf.store import fetch_all, fetch_all_pages, save

__all__ = ["fetch_all", "fetch_all_pages", "save"]
