"""Signs that the agent stopped before it was done."""

from __future__ import annotations

from fairtrial.grading.seen import Seen, failed

CAPTION = "Signs that the agent stopped before it was done. Heuristic, recorded and never acted on."
GAVE_UP = ("unable to", "i could not", "i couldn't", "i was not able", "i wasn't able", "cannot complete", "ran out of")


def count(seen: Seen) -> list[str] | None:
    """What CAPTION says; None when it was not captured."""
    calls = seen.calls()
    text = (seen.events["final_text"] or "").strip()
    if calls is None and not text:
        return None
    shell = [c for c in calls or () if c["kind"] == "shell"]
    signs = {
        "no_tool_call": calls == [],
        "last_command_failed": bool(shell) and failed(shell[-1]),
        "ends_with_a_question": text.endswith("?"),
        "says_it_gave_up": any(phrase in text.lower() for phrase in GAVE_UP),
        "nothing_changed": seen.patch().get("bytes") == 0,
    }
    return [name for name, there in signs.items() if there]
