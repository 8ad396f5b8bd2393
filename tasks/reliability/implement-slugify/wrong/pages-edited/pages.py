"""Addresses of pages."""

from slugs import slugify


def addresses(titles, longest=40):
    """A distinct address for each title, in order; repeated slugs get -2, -3 ... behind them."""
    taken = {""}
    result = []
    for title in titles:
        slug = slugify(title, longest)
        address, number = slug, 1
        while address in taken:
            number += 1
            address = f"{slug}-{number}"
        taken.add(address)
        result.append(f"/{address}/")
    return result
