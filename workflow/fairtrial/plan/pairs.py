"""Pairs of a program and a model that cannot talk, found from what their entries say, before anything is paid.

A model speaks its `wire`; without one the protocols of the provider that it names, where that one is known and no
`base_url` leads elsewhere: behind a `base_url` may be anything. A program speaks its adapter's WIRES, and asks by the
first of them when the model says no `wire`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.schema import meant
from fairtrial.plan.config import Config, adapter_of

if TYPE_CHECKING:
    from fairtrial.plan.recipe import Arm

SPEAKS = {"anthropic": ("anthropic",), "openai": ("openai-responses", "openai-chat"), "google": ("gemini",)}
KEYS = {
    "ANTHROPIC_API_KEY": "anthropic",
    "OPENAI_API_KEY": "openai",
    "GEMINI_API_KEY": "google",
    "GOOGLE_API_KEY": "google",
}


def mismatch(arm: Arm, config: Config) -> tuple[str, str] | None:
    """What cannot talk and why; None for a pair that can, or of which nothing is known that speaks against it."""
    entry, model = arm.entry(config), config.models[arm.model]
    spoken = getattr(adapter_of(entry), "WIRES", None)
    why = None
    if spoken is not None:
        alone = arm.network(config) == "host" and len(spoken) > 1  # it finds the provider by itself
        why = _wire(model, tuple(spoken), alone)
    why = why or _key(entry, model)
    return None if why is None else (f"{arm.harness} x {arm.model}", why)


def _wire(model: dict[str, Any], spoken: tuple[str, ...], alone: bool) -> str | None:
    wire, provider = model.get("wire"), model.get("provider")
    if wire is not None:
        return None if wire in spoken else f"the model speaks {wire}, the program {' or '.join(spoken)}"
    speaks = () if alone or model.get("rehearsal") or model.get("base_url") else SPEAKS.get(str(provider), ())
    if not speaks or spoken[0] in speaks:
        return None
    said = f"the model speaks {' or '.join(speaks)} (provider {provider}), the program"
    common = [name for name in speaks if name in spoken]
    if common:
        return f"{said} asks by {spoken[0]} unless the model says wire: {common[0]}"
    return f"{said} {' or '.join(spoken)}"


def _key(entry: dict[str, Any], model: dict[str, Any]) -> str | None:
    """Would one provider's key be sent to another? Only keys with a well-known name tell whose they are."""
    if entry.get("auth") != "key" or model.get("rehearsal") or model.get("base_url"):
        return None
    owner = KEYS.get(str(entry.get("key_env")))
    by_wire = {wire: provider for provider, wires in SPEAKS.items() for wire in wires}
    asked = model.get("provider") or by_wire.get(str(model.get("wire")))
    if owner is None or asked not in SPEAKS or asked == owner:
        return None
    return f"{entry['key_env']} is a key of {owner}, the model is of {asked}; it needs an entry with that one's key"


def check_effort(arm: Arm, config: Config) -> None:
    """UserError where a model's `options.effort` is no word that the program's adapter knows; its own goes first."""
    entry, model = arm.entry(config), config.models[arm.model]
    word = model.get("options", {}).get("effort")
    known = adapter_of(entry).OPTIONS.get("properties", {}).get("effort", {}).get("enum")
    if word is None or known is None or word in known or "effort" in entry.get("options", {}):
        return
    raise UserError(
        f"{config.files['models']}: {arm.model}: options.effort: {word!r}{meant(word, known)} is no effort of "
        f"{arm.harness}; known: {', '.join(known)}"
    )
