"""The rehearsal model: plays the reference solution through the tools a request offers. It never sees the workspace."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairtrial.instruments.endpoint import steps, tools
from fairtrial.instruments.endpoint.turn import CATEGORIES, Answer, Asked, Json, Move

SUBMITS = b"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
_NEXT_SPEAKER = b"next_speaker"  # gemini-cli and qwen-code ask who is to speak, in a request without tools
_LISTINGS = b"*file listing*"  # aider, which offers no tools: files come as text, between the fences it names
_FENCES = re.compile(r"path/to/filename\.\w+\n([^\s\w]+|<\w+>)\n")
_ALWAYS = 1 << 60


class Rehearsal:
    """One attempt's model. `workspace`: its path as the agent sees it."""

    def __init__(self, recipe: Json, solution: Path, workspace: str, seed: int) -> None:
        self._options: Json = recipe["model"]["options"]
        draw = random.Random(seed).random()  # noqa: S311 - not a secret: a repetition must be able to repeat it
        self.passes = draw < self._options.get("pass_probability", 1.0)
        self._steps = steps.steps(recipe, solution, passes=self.passes)
        self._workspace = workspace

    @property
    def seconds(self) -> float:
        """How long it thinks before every answer."""
        return float(self._options.get("seconds", 0.0))

    def fault(self, number: int) -> Json | None:
        """The planned fault of model request `number` (from 1); the first that holds."""
        for fault in self._options.get("faults", []):
            first = fault.get("first", 1)
            count = fault.get("count", 1) if fault["kind"] != "refused" else None
            if first <= number < first + (_ALWAYS if count is None else count):
                return dict(fault)
        return None

    def answer(self, asked: Asked, body: bytes, number: int) -> Answer:
        """The next move with its tokens; the step is the number of tool calls already in the conversation."""
        move = self.move(asked, body)
        return Answer(move, asked.model or "rehearsal", self.tokens(body, move), number)

    def move(self, asked: Asked, body: bytes) -> Move:
        """A tool call, or a text when the work is done or no tool is offered."""
        if not asked.tools:
            return Move(text=self._aside(body))
        plan = steps.as_moves(self._steps, edits=tools.can_edit(asked.tools))
        try:
            if asked.calls_done < len(plan):
                return tools.call(plan[asked.calls_done], asked.tools, self._workspace)
            if SUBMITS in body and asked.calls_done == len(plan):
                return tools.submit(asked.tools, self._workspace)
        except tools.NoTool as missing:
            return Move(text=f"Rehearsal stopped: {missing}")
        return Move(text="Done." if self.passes else "Stopped early.")

    def tokens(self, body: bytes, move: Move) -> dict[str, int]:
        """As the options say; without them a quarter of the bytes."""
        given: dict[str, Any] | None = self._options.get("usage")
        if given is not None:
            return {category: int(given.get(category, 0)) for category in CATEGORIES}
        made = len(str(move.arguments)) + len(move.text)
        return {**dict.fromkeys(CATEGORIES, 0), "input_uncached": len(body) // 4, "output": max(1, made // 4)}

    def _aside(self, body: bytes) -> str:
        """The answer to a request without tools."""
        if _NEXT_SPEAKER in body:
            return '{"reasoning": "The work is done.", "next_speaker": "user"}'
        if _LISTINGS in body:
            return self._listed(" ".join(_strings(json.loads(body))))
        return "Rehearsal"

    def _listed(self, conversation: str) -> str:
        """Every file of the solution, unless the conversation has them already."""
        found = _FENCES.search(conversation)
        opening = found.group(1) if found else "```"
        closing = opening.replace("<", "</")
        writes = (step for step in self._steps if step.kind == "write" and step.text is not None)
        files = [f"{step.path}\n{opening}\n{step.text}{closing}" for step in writes]
        last = "Done." if self.passes else "Stopped early."
        return last if files and files[-1] in conversation else "\n\n".join([*files, last])


def _strings(value: Any) -> Iterator[str]:
    """Every text of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
