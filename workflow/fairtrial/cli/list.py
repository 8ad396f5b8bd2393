"""fairtrial list"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairtrial.plan.config import Config

HELP = "list tasks, harnesses, models, toolsets and what is skipped here"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument(
        "what", nargs="?", choices=["tasks", "harnesses", "models", "toolsets", "skipped"], help="default all"
    )
    parser.add_argument("--configfile", type=Path, help="an experiment; default config/config.yaml of the checkout")


def run(args: argparse.Namespace) -> int:
    """0."""
    from fairtrial.cli._configuration import configuration

    config = configuration(args.configfile)
    parts = {
        "tasks": _tasks,
        "harnesses": _harnesses,
        "models": _models,
        "toolsets": _toolsets,
        "skipped": _skipped,
    }
    for name, lines in parts.items():
        if args.what in (None, name):
            print(f"{name}:")
            for line in lines(config) or ["none"]:
                print(f"  {line}")
    return 0


def _tasks(config: Config) -> list[str]:
    from fairtrial.plan import tasks

    found = tasks.discover(config.tasks_dirs)
    read = [tasks.read(name, folder) for name, folder in found.items()]
    labels = [t.settings["label"] for t in read]
    shown = ["" if t.name.endswith(f"/{label}") else label for t, label in zip(read, labels, strict=True)]
    return _columns(
        [(t.name, label, t.settings["language"], t.settings["title"]) for t, label in zip(read, shown, strict=True)]
    )


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Left-aligned, each column as wide as its longest value."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _harnesses(config: Config) -> list[str]:
    return [f"{name:<16} {entry.get('title') or entry['adapter']}" for name, entry in config.harnesses.items()]


def _models(config: Config) -> list[str]:
    width = max(map(len, config.models), default=0)
    return [f"{name:<{width}}  {_about(entry)}" for name, entry in config.models.items()]


def _about(entry: dict[str, Any]) -> str:
    """A model in a line: what is asked for, and what a million tokens of it cost."""
    if entry["id"] is None:
        return "(no model flag)"
    if entry.get("rehearsal"):
        return f"{entry['id']}, free: played by the loopback endpoint"
    price = entry.get("price")
    if price is None:
        return f"{entry['id']}, {'free' if entry.get('free') else 'price unknown'}"
    return f"{entry['id']}, {price['input']:g} in, {price['output']:g} out USD per million tokens on {price['date']}"


def _toolsets(config: Config) -> list[str]:
    import shutil

    from fairtrial import registry

    lines = []
    for name in registry.names("fairtrial.toolsets"):
        absent = [b for b in registry.load("fairtrial.toolsets", name, "toolset").BINARIES if not shutil.which(b)]
        lines.append(f"{name:<16} {'not installed: ' + ', '.join(absent) if absent else 'installed'}")
    return lines


def _skipped(config: Config) -> list[str]:
    from fairtrial.contracts.lean import replaced
    from fairtrial.plan.matrix import expand

    config = replaced(config, settings={**config.settings, "tasks": ["*"]})  # also what the experiment leaves out
    return [f"{entry['what']}: {entry['why']}" for entry in expand(config).record["skipped"]]
