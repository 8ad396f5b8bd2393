"""Hidden checks of implement-lru-cache: long sequences of calls, compared with a plain list."""

import json

from fairtrial.verify import Verification

v = Verification()

CODE = """
import json, sys
from cache import Cache
answers = []
for capacity, steps in json.load(sys.stdin):
    cache = Cache(capacity)
    for name, *args in steps:
        if name == "in":
            answers.append(args[0] in cache)
        elif name == "len":
            answers.append(len(cache))
        elif name in ("hits", "misses"):
            answers.append(getattr(cache, name))
        else:
            answers.append(getattr(cache, name)(*args))
print(json.dumps(answers))
"""


class Model:
    """The description, written for clarity: the most recently used entry comes first."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.entries, self.hits, self.misses = capacity, [], 0, 0

    def find(self, key: object) -> int:
        return next((at for at, entry in enumerate(self.entries) if entry[0] == key), -1)

    def step(self, name: str, *args: object) -> object:
        if name in ("hits", "misses"):
            return getattr(self, name)
        if name in ("keys", "len"):
            return [key for key, _ in self.entries] if name == "keys" else len(self.entries)
        return getattr(self, f"do_{name}")(self.find(args[0]), *args)

    def do_in(self, at: int, _key: object) -> bool:
        return at >= 0

    def do_peek(self, at: int, _key: object, default: object = None) -> object:
        return default if at < 0 else self.entries[at][1]

    def do_drop(self, at: int, _key: object) -> bool:
        return at >= 0 and bool(self.entries.pop(at))

    def do_get(self, at: int, _key: object, default: object = None) -> object:
        self.hits, self.misses = self.hits + (at >= 0), self.misses + (at < 0)
        if at < 0:
            return default
        self.entries.insert(0, self.entries.pop(at))
        return self.entries[0][1]

    def do_put(self, at: int, key: object, value: object) -> object:
        if at >= 0:
            self.entries.pop(at)
        self.entries.insert(0, (key, value))
        return self.entries.pop()[0] if len(self.entries) > self.capacity else None


def compare(scenarios: list[tuple[int, list[list[object]]]]) -> None:
    """Every answer of every step is the model's."""
    answers = v.ok(v.run(["python3", "-c", CODE], stdin=json.dumps(scenarios).encode())).json()
    want, steps = [], []
    for capacity, sequence in scenarios:
        model = Model(capacity)
        want += [model.step(*step) for step in sequence]
        steps += [f"step {at} of {sequence[: at + 1]}, capacity {capacity}" for at in range(len(sequence))]
    v.equal(len(answers) if isinstance(answers, list) else None, len(want), "number of answers")
    for step, got, expected in zip(steps, answers, want, strict=True):
        v.equal(got, expected, step[-300:])


def walk(names: list[str], length: int, keys: int, seed: int) -> list[list[object]]:
    """A fixed, irregular sequence of calls."""
    steps, state = [], seed
    for _ in range(length):
        state = (state * 1103515245 + 12345) % 2**31
        name, key = names[(state >> 8) % len(names)], f"k{(state >> 16) % keys}"
        plain = name in ("len", "keys", "hits", "misses")
        steps.append([name] if plain else [name, key, state % 50] if name == "put" else [name, key])
    return steps


@v.check("eviction")
def eviction() -> None:
    """put, get, drop and keys in long sequences at several capacities."""
    names = ["put", "put", "get", "keys", "drop"]
    compare([(capacity, walk(names, 120, capacity + 3, 7 * capacity)) for capacity in (1, 2, 3, 5, 8)])


@v.check("no-use")
def no_use() -> None:
    """peek, in and len change no order."""
    names = ["put", "peek", "in", "len", "keys", "put", "peek"]
    compare([(capacity, walk(names, 120, capacity + 2, 11 * capacity)) for capacity in (1, 2, 4)])


@v.check("counters")
def counters() -> None:
    """Only get counts, values such as None, 0 and an empty text are found."""
    compare([(3, walk(["put", "get", "get", "peek", "in", "hits", "misses", "drop"], 150, 5, 5))])
    steps = [["put", "a", None], ["get", "a", 9], ["put", "b", 0], ["get", "b", 9], ["put", "c", ""], ["get", "c", 9]]
    compare(
        [(3, [*steps, ["hits"], ["misses"], ["peek", "a", 9], ["peek", "z", 9], ["peek", "z"], ["hits"], ["misses"]])]
    )


@v.check("speed")
def speed() -> None:
    """With 100,000 entries a call takes no longer than with a few."""
    code = (
        "from cache import Cache\nn = 100_000\ncache = Cache(n)\nfor k in range(n):\n    cache.put(k, k)\n"
        "for k in range(20_000):\n    cache.get((k * 7919) % n)\nfor k in range(10_000):\n    cache.put(n + k, k)\n"
        "for k in range(10_000):\n    cache.drop(n + k)\nprint(len(cache))\n"
    )
    v.equal(v.ok(v.run(["python3", "-c", code], timeout=5)).text, "90000\n", "entries at the end")


@v.check("edges")
def edges() -> None:
    """Capacities below 1, replacing in a full cache, keys that are equal."""
    for capacity in (0, -1):
        v.raises("ValueError", "cache", "Cache", [capacity])
    compare(
        [(2, [["put", "a", 1], ["put", "b", 2], ["put", "a", 3], ["keys"], ["put", "c", 4], ["keys"], ["get", "a"]])]
    )
    compare(
        [
            (
                1,
                [
                    ["put", 1, "x"],
                    ["put", 1, "y"],
                    ["len"],
                    ["put", "1", "z"],
                    ["in", 1],
                    ["drop", 1],
                    ["drop", "1"],
                    ["keys"],
                ],
            )
        ]
    )


@v.check("others-kept")
def others_kept() -> None:
    """The files that were finished are as they were."""
    for name in ("lookup.py", "README.md"):
        v.equal(v.text(name), (v.task / "workspace" / name).read_text(encoding="utf-8"), name)


v.finish()
