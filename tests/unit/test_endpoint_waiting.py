"""How long a provider asks to wait before the next try."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from fairtrial.instruments.endpoint import waiting


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "30"}, 30),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:20 GMT"}, 20),
        ({"Retry-After": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0),
        *(({"retry-after": text}, None) for text in ("", "soon", "-1", "nan", "inf", "9" * 400, "Mon, 99 Nov")),
        ({}, None),
    ],
)
def test_a_wait_is_a_number_or_a_date_or_nothing(headers, seconds):
    """RFC 9110 knows both; whatever else a provider sends is no wait."""
    assert waiting.asked(headers, datetime(2026, 11, 30, 12, tzinfo=UTC)) == seconds
