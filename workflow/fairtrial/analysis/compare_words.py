"""What a pair of arms may be said to show, in words."""

from __future__ import annotations

import math

from fairtrial.analysis.arms import Json
from fairtrial.analysis.stats.rates import MIN_TASKS
from fairtrial.analysis.stats.tables import fisher_p
from fairtrial.contracts.plain import counted

SEPARATED, NOT_SEPARATED = "separated", "not separated"


def read(pair: Json, alpha: float) -> None:
    """Fill in reading, better, reading_these_tasks, the time verdict, sentence and notes of a corrected PAIR.

    Separated: the q of the sign-flip test is at most alpha and the joint interval leaves 0 out; both, so that the
    table and the interval beside it never contradict each other.
    """
    rate, time = pair["pass_rate"], pair["time"]
    clear = rate["low"] is not None and not rate["low"] <= 0 <= rate["high"]
    told = clear and rate["q"] is not None and rate["q"] <= alpha
    pair["reading"] = SEPARATED if told else NOT_SEPARATED
    pair["better"] = (pair["a"] if rate["difference"] > 0 else pair["b"])["label"] if told else None
    these = rate["these_q"] is not None and rate["these_q"] <= alpha
    pair["reading_these_tasks"] = SEPARATED if these else NOT_SEPARATED
    sooner = time["q"] is not None and time["q"] <= alpha
    time["reading"] = SEPARATED if sooner else NOT_SEPARATED
    time["sooner"] = _sooner(pair) if sooner else None
    pair["notes"] = _notes(pair, alpha)
    pair["sentence"] = _sentence(pair)


def _sooner(pair: Json) -> str | None:
    """The side that is green sooner, by the test and by the mean; None where the curves cross and these disagree."""
    time = pair["time"]
    first, mean = time["observed"] > time["expected"], time["difference_seconds"]
    if mean is not None and mean * (1 if first else -1) > 0:
        return None
    return str(pair["a" if first else "b"]["label"])


def points(value: float) -> str:
    """A difference of rates in points, signed: +36, 0."""
    rounded = math.floor(100 * value + 0.5 + 1e-9)
    return f"{rounded:+d}" if rounded else "0"


def _sentence(pair: Json) -> str:
    a, b, rate = pair["a"]["label"], pair["b"]["label"], pair["pass_rate"]
    if rate["difference"] is None:
        return f"{a} and {b} have no scored task in common."
    told = points(rate["difference"])
    size = f"{told} {'point' if told in ('+1', '-1') else 'points'}"
    if rate["low"] is not None:
        size += f" [{points(rate['low'])}, {points(rate['high'])}]"
    if pair["better"] is None:
        return f"For tasks like these, {a} and {b} are not separated: {size}; no winner."
    better, worse = (a, b) if pair["better"] == a else (b, a)
    beside = "; confounded, so it is not known what made the difference" if pair["confounded"] else ""
    return f"For tasks like these, {better} passes more often than {worse}: {a} - {b} = {size}{beside}."


def _notes(pair: Json, alpha: float) -> list[str]:
    tasks, notes = pair["tasks"], []
    if pair["a"]["simulated"]:  # then b is: they never meet measured ones
        notes.append("Simulated: generated, not measured; this says nothing about any agent.")
    only = [(pair[side]["label"], tasks[f"only_{side}"]) for side in ("a", "b") if tasks[f"only_{side}"]]
    if only:
        left = "; ".join(f"only {label}: {_some(names)}" for label, names in only)
        notes.append(f"Compared on the {counted(tasks['common'], 'task')} both have; left out, {left}.")
    if tasks["common"] < MIN_TASKS:
        notes.append(f"Below {MIN_TASKS} tasks nothing is said about tasks like these, only about these.")
    notes += _out_of_reach(pair, alpha)
    if pair["confounded"]:
        notes.append(f"Confounded: {len(pair['changed'])} things differ at once ({'; '.join(pair['changed'])}).")
    return notes + _reach(pair)


def _out_of_reach(pair: Json, alpha: float) -> list[str]:
    """What no outcome of this size could have shown."""
    smallest, tasks, notes = pair["pass_rate"]["smallest_p"], pair["tasks"]["common"], []
    if tasks and smallest is not None and smallest > alpha:
        differ = sum(abs(task["difference"]) > 1e-12 for task in pair["per_task"])
        notes.append(
            f"Out of reach for tasks like these: {differ} of {counted(tasks, 'task')} "
            f"{'differs' if differ == 1 else 'differ'}, and then the sign-flip test cannot go below {smallest:.3g}."
        )
    alone = [fisher_p(x["a_attempts"], 0, 0, x["b_attempts"]) for x in pair["per_task"]]
    if tasks > 1 and min(alone) * tasks > alpha:
        notes.append(f"No single task can stand out: one that flipped alone among {tasks} does not survive correction.")
    return notes


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _reach(pair: Json) -> list[str]:
    found = pair["detectable"]
    if found["planned"] is None:
        return []
    size = f"{counted(pair['tasks']['common'], 'task')} and {counted(found['attempts'], 'attempt')} of each"
    if found["planned"] >= 1:
        return [f"With {size}, even the largest difference there can be usually goes undetected."]
    seen = found["observed"]
    after = "" if seen is None else f"; by what was seen, {f'below {round(100 * seen)}' if seen < 1 else 'all of them'}"
    return [
        f"With {size}, differences below about {round(100 * found['planned'])} points usually go undetected{after}. "
        "Twice the tasks beats twice the repetitions."
    ]
