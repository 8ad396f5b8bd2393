"""Slots: how many attempts of one harness, or of one provider, run at once.

Each slot is a lease file, so that it works on a cluster as on one machine, over all experiments of a results tree, and
comes free when its holder dies. Slots are taken in the order of their names, so that two attempts cannot wait for each
other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.capture.spend.leases import Lease, take
from fairtrial.paths import Results

POLL_SECONDS = 0.5


def needed(settings: Settings, recipe: dict[str, Any]) -> dict[str, int]:
    """The slots an attempt needs, by name in order, and how many of each there are.

    A harness that uses a person's login has one unless the configuration says otherwise: two programs at once on one
    login refresh each other's token away.
    """
    harness = recipe["harness"]
    counts = {harness["name"]: 1} if harness["auth"] == "login" else {}
    named = {harness["name"], recipe["model"]["provider"]} & settings.slots.keys()
    counts |= {name: settings.slots[name] for name in named}
    return dict(sorted(counts.items()))


@contextmanager
def held(
    results: Results,
    settings: Settings,
    recipe: dict[str, Any],
    lease: dict[str, Any],
    stopped: Callable[[], str | None],
) -> Iterator[str | None]:
    """Wait for a slot of each name and hold them; yields why it gave up, or None."""
    with ExitStack() as stack:
        for name, count in needed(settings, recipe).items():
            while True:
                one = _free(results, name, count, lease)
                if one is not None:
                    stack.enter_context(one)
                    break
                reason = stopped()
                if reason is not None:
                    yield reason
                    return
                time.sleep(POLL_SECONDS)
        yield None


def _free(results: Results, name: str, count: int, lease: dict[str, Any]) -> Lease | None:
    for number in range(1, count + 1):
        path = results.slots(name) / f"{number}.json"
        if take(path, lease, lambda dead: None) is None:
            return Lease(path, lease)
    return None
