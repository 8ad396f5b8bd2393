"""First green end to end: an agent with known green moments, watched, replayed, decided."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fairtrial.contracts.protocols import Box, Budget, Stage
from fairtrial.grading.first_green import Verdict, decide, replay
from fairtrial.instruments.snapshots.export import Recording
from fairtrial.instruments.snapshots.instrument import Snapshots

RIGHT, WRONG = b"answer = 42\n", b"answer = 41\n"


@dataclass
class Agent:
    """Edits one file and notes when: `moments` are seconds from the clock, after the edit was complete."""

    root: Path
    snapshots: Snapshots
    clock_ns: int
    moments: list[float] = field(default_factory=list)

    def write(self, content: bytes, pause: float) -> None:
        temporary = self.root / ".answer.tmp"
        temporary.write_bytes(content)
        temporary.rename(self.root / "answer.py")
        self.moments.append((time.monotonic_ns() - self.clock_ns) / 1e9)
        time.sleep(pause)

    def command(self, span: str) -> None:
        self.snapshots.capture_now("command", span=span)


def judge(tree: Path) -> Verdict:
    """Green when the answer is right, and no part of a large file is missing where there is one."""
    big = tree / "big"
    if big.exists() and b"bug" in big.read_bytes():
        return "red"
    return "green" if (tree / "answer.py").read_bytes() == RIGHT else "red"


def played(tmp_path: Path, play: Callable[[Agent], None]) -> tuple[dict, Agent, Recording]:
    for name in ("workspace", "home", "folder", "scratch"):
        (tmp_path / name).mkdir()
    root = tmp_path / "workspace"
    (root / "answer.py").write_bytes(WRONG)
    stage = Stage("a", tmp_path / "folder", tmp_path / "scratch", Box(root, tmp_path / "home"), Budget(60), {})
    snapshots = Snapshots()
    snapshots.prepare(stage)
    agent = Agent(root, snapshots, time.monotonic_ns())
    snapshots.start(stage, os.getpid(), agent.clock_ns)
    play(agent)
    ended = (time.monotonic_ns() - agent.clock_ns) / 1e9
    snapshots.stop(stage)
    recording = Recording(stage.folder)
    result = replay(recording, judge, known={recording.end: judge(root)}, scratch=tmp_path)
    return decide(result.table, ended), agent, recording


def holds(record: dict, moment: float, widest: float = 0.6) -> bool:
    """The interval contains the moment at which the edit was complete and is narrow."""
    # the moment is noted just after the rename, so a look may be complete a hair earlier
    lower, upper = record["lower_seconds"], record["upper_seconds"]
    return bool(lower <= moment <= upper + 0.02 and upper - lower <= widest)


def test_one_change_to_green(tmp_path: Path) -> None:
    """Red, another red, green: the interval holds the moment of the edit."""

    def play(agent: Agent) -> None:
        time.sleep(0.3)
        agent.write(b"answer = 40\n", 0.3)
        agent.write(RIGHT, 0.4)

    record, agent, _ = played(tmp_path, play)
    assert holds(record, agent.moments[1])
    assert (record["certain"], record["went_red_again"]) == (True, False)
    assert record["seconds_after"] == pytest.approx(0.4, abs=0.2)


def test_an_agent_that_thinks_long_has_a_narrow_interval_all_the_same(tmp_path: Path) -> None:
    """The first edit is right, only the start was looked at before: that is known to have held until just before."""

    def play(agent: Agent) -> None:
        time.sleep(1.6)
        agent.write(RIGHT, 0.4)

    record, agent, recording = played(tmp_path, play)
    assert sum(look["at_ns"] / 1e9 < agent.moments[0] for look in recording.looks) == 1
    assert holds(record, agent.moments[0])


def test_a_flash_of_green_is_not_first_green(tmp_path: Path) -> None:
    """Right for 30 ms, then wrong, then right for good: the interval holds the second moment."""

    def play(agent: Agent) -> None:
        time.sleep(0.3)
        agent.write(RIGHT, 0.0)
        agent.command("sees the flash")
        agent.write(WRONG, 0.4)
        agent.write(RIGHT, 0.4)

    record, agent, recording = played(tmp_path, play)
    assert "command" in [look["reason"] for look in recording.looks]
    assert holds(record, agent.moments[2])
    assert (record["certain"], record["went_red_again"]) == (True, False)


def test_a_flash_that_is_all_there_is_is_uncertain(tmp_path: Path) -> None:
    """Only a flash: its moment is given, not certain, and it went red again."""

    def play(agent: Agent) -> None:
        time.sleep(0.3)
        agent.write(RIGHT, 0.0)
        agent.command("sees the flash")
        agent.write(WRONG, 0.4)

    record, agent, _ = played(tmp_path, play)
    assert holds(record, agent.moments[0])
    assert (record["certain"], record["went_red_again"]) == (False, True)


def test_a_half_written_file_that_looks_green_does_not_count(tmp_path: Path) -> None:
    """A slow write passes through states without the bug at its end; first green is when the bug is really gone."""
    moments: list[float] = []

    def play(agent: Agent) -> None:
        (agent.root / "big").write_bytes(b"bug")
        agent.write(RIGHT, 0.3)
        with (agent.root / "big").open("wb", buffering=0) as stream:
            for _ in range(14):
                stream.write(b"x" * 100_000)
                time.sleep(0.03)
            stream.write(b"bug")
        time.sleep(0.3)
        (agent.root / "big").write_bytes(b"x")
        moments.append((time.monotonic_ns() - agent.clock_ns) / 1e9)
        time.sleep(0.3)

    record, _, recording = played(tmp_path, play)
    assert len({look["tree"] for look in recording.looks}) >= 5
    assert holds(record, moments[0])


def test_green_red_green(tmp_path: Path) -> None:
    """Green for half a second, broken, repaired: the first moment counts, and it is said that it went red again."""

    def play(agent: Agent) -> None:
        time.sleep(0.25)
        agent.write(RIGHT, 0.5)
        agent.write(WRONG, 0.3)
        agent.write(RIGHT, 0.3)

    record, agent, _ = played(tmp_path, play)
    assert holds(record, agent.moments[0])
    assert (record["certain"], record["went_red_again"]) == (True, True)


def test_two_greens_in_a_row_are_certain_without_rest(tmp_path: Path) -> None:
    """An agent that goes on editing after green, never resting 200 ms, is still certain at its first green."""

    def play(agent: Agent) -> None:
        time.sleep(0.25)
        agent.write(RIGHT, 0.0)
        agent.command("green")
        for i in range(5):
            (agent.root / "notes").write_bytes(b"%d" % i)
            time.sleep(0.06)
            agent.command("more")

    record, agent, _ = played(tmp_path, play)
    assert holds(record, agent.moments[0])
    assert (record["certain"], record["went_red_again"]) == (True, False)


def test_green_in_the_very_last_moment(tmp_path: Path) -> None:
    """The edit just before the end is found by the look after the end, and dated within the agent's time."""

    def play(agent: Agent) -> None:
        time.sleep(0.3)
        agent.write(RIGHT, 0.0)

    record, agent, _ = played(tmp_path, play)
    assert holds(record, agent.moments[0])
    assert record["certain"] is True


def test_never_green_tells_how_long_it_was_red(tmp_path: Path) -> None:
    """No green: no upper bound, the last red look, and the reason."""

    def play(agent: Agent) -> None:
        time.sleep(0.3)
        agent.write(b"answer = 40\n", 0.3)

    record, _, _ = played(tmp_path, play)
    assert (record["upper_seconds"], record["reason"]) == (None, "never green")
    assert record["lower_seconds"] > 0.5
