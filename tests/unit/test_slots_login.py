"""How many attempts of one harness run at once."""

from __future__ import annotations

from fairtrial.capture.settings import Settings
from fairtrial.capture.spend.slots import needed


def recipe(auth: str) -> dict:
    """As far as slots look at it."""
    return {"harness": {"name": "claude", "auth": auth}, "model": {"provider": "acme"}}


def test_a_login_has_one_slot_unless_configured():
    """A key needs none; `slots: {claude: 3}` gives a login three."""
    assert needed(Settings(), recipe("login")) == {"claude": 1}
    assert needed(Settings(), recipe("key")) == {}
    assert needed(Settings(slots={"claude": 3, "acme": 2, "other": 1}), recipe("login")) == {"acme": 2, "claude": 3}
