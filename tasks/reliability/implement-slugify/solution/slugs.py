"""Slugs: titles as parts of addresses."""

import re
import unicodedata


def slugify(text, longest=None):
    """The slug of a title, at most `longest` signs; README.md has the rules."""
    if longest is not None and longest < 1:
        raise ValueError(f"longest must be 1 or more, not {longest}")
    decomposed = unicodedata.normalize("NFKD", text.casefold()).casefold()
    plain = "".join(sign for sign in decomposed if not unicodedata.combining(sign) and sign not in "'’")
    slug = re.sub("[^a-z0-9]+", "-", plain).strip("-")
    if longest is not None and len(slug) > longest:
        cut = slug[: longest + 1].rfind("-")
        slug = slug[:cut] if cut > 0 else slug[:longest]
    return slug or "untitled"
