"""Busy times of a room: spans [start, end] in minutes after midnight, the end not included."""

DAY = 24 * 60


def parse(text):
    """'09:00-10:30' as [540, 630]. Hours and minutes have two digits, 24:00 is the end of the day."""
    try:
        start, end = (clock(part) for part in text.split("-"))
    except ValueError:
        raise ValueError(f"not a span: {text!r}") from None
    if start > end:
        raise ValueError(f"ends before it starts: {text!r}")
    return [start, end]


def clock(text):
    """'10:30' as 630."""
    hours, minutes = text.split(":")
    if len(hours) != 2 or len(minutes) != 2:
        raise ValueError(text)
    value = int(hours) * 60 + int(minutes)
    if int(minutes) > 59 or not 0 <= value <= DAY:
        raise ValueError(text)
    return value


def merge(spans):
    """The same minutes as few spans, in order: spans that overlap or touch become one."""
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def total(spans):
    """Busy minutes; a minute in two spans counts once."""
    return sum(end - start for start, end in merge(spans))


def free(spans, start=0, end=DAY):
    """What is not busy between two times, in order."""
    gaps = []
    for first, last in merge(spans):
        if first > start:
            gaps.append([start, min(first, end)])
        start = max(start, last)
        if start >= end:
            break
    if start < end:
        gaps.append([start, end])
    return [gap for gap in gaps if gap[0] < gap[1]]
