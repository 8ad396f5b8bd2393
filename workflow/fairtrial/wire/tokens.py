"""One convention for token counts: input_uncached excludes cache reads and writes, output includes reasoning.

`None` means the program did not say. Sources of the conventions: the l_usage recordings of each program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Tokens = dict[str, int | None]
CATEGORIES = ("input_uncached", "cache_read", "cache_write", "output", "reasoning")


def unknown() -> Tokens:
    """A record in which nothing was said."""
    return dict.fromkeys(CATEGORIES)


def exclusive(
    uncached: int | None,
    cache_read: int | None = None,
    cache_write: int | None = None,
    output: int | None = None,
    reasoning: int | None = None,
) -> Tokens:
    """Counts of a program whose input already excludes what the cache served and whose output holds reasoning."""
    return {
        "input_uncached": uncached,
        "cache_read": cache_read,
        "cache_write": cache_write,
        "output": output,
        "reasoning": reasoning,
    }


def inclusive(
    total_input: int | None,
    cache_read: int | None = None,
    cache_write: int | None = None,
    output: int | None = None,
    reasoning: int | None = None,
) -> Tokens:
    """Counts of a program whose input contains the cached part (codex, qwen, gemini, mini)."""
    uncached = None if total_input is None else max(0, total_input - (cache_read or 0) - (cache_write or 0))
    return exclusive(uncached, cache_read, cache_write, output, reasoning)


def plus(first: int | None, second: int | None) -> int | None:
    """Sum in which None adds nothing; None only when both are."""
    if first is None:
        return second
    return first if second is None else first + second


def total(records: Iterable[Mapping[str, int | None]]) -> Tokens:
    """Per category sum."""
    result = unknown()
    for record in records:
        for name in CATEGORIES:
            result[name] = plus(result[name], record.get(name))
    return result


def minus(whole: Mapping[str, int | None], part: Mapping[str, int | None]) -> Tokens:
    """What `whole` has beyond `part`: a resumed thread restates its total, so this is the second process alone."""
    result = unknown()
    for name in CATEGORIES:
        count = whole.get(name)
        result[name] = None if count is None else max(0, count - (part.get(name) or 0))
    return result


def anything(record: Mapping[str, int | None]) -> bool:
    """Whether any category is above 0: only a working model can cause that."""
    return any(record.get(name) for name in CATEGORIES)
