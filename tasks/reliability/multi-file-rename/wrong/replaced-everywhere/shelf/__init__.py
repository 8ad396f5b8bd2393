"""Records in text files."""

from shelf.store import load_records, load_records_pages, save

__all__ = ["load_records", "load_records_pages", "save"]
