"""A paid experiment with real agent programs and real keys: no value of a key is left anywhere on disk."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli_rig import program
from tests.endpoint_rig import entry, recipe, running
from tests.lab import Lab

pytestmark = pytest.mark.cli
BY_NAME, BY_FILE = "sk-by-name-3141592653589793", "sk-by-file-2718281828459045"


def experiment(folder, url):
    """claude takes its key from a variable, codex from a private file; both pay by the table."""
    price = {"input": 1.0, "cache_read": 0.1, "cache_write": 1.25, "output": 10.0, "date": "2026-11-01"}
    (folder / "key").write_text(BY_FILE + "\n")
    (folder / "key").chmod(0o600)
    harnesses = {
        "claude": {"options": {"bin": str(program("claude"))}, "auth": "key", "key_env": "FT_TEST_KEY"},
        "codex": {"options": {"bin": str(program("codex"))}, "auth": "key", "key_env": "FT_OTHER_KEY",
                  "key_file": str(folder / "key")},
    }  # fmt: skip
    config = {"harnesses": list(harnesses), "models": ["paid"], "repetitions": 1, "isolation": "required",
              "spend": {"allow": True, "max_usd": 20.0, "per_attempt_usd": 2.0}}  # fmt: skip
    models = {"paid": {"id": "claude-sonnet-4-5", "base_url": url, "price": price}}
    return Lab(folder, tasks=["one"], config=config, harnesses=harnesses, models=models)


@contextlib.contextmanager
def watched_command_lines() -> Iterator[set[str]]:
    """The values that stood on any process's command line meanwhile; looked at ten times a second."""
    seen: set[str] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.1):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    line = path.read_bytes()
                    seen.update(value for value in (BY_NAME, BY_FILE) if value.encode() in line)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def test_no_key_is_written_down(tmp_path, monkeypatch):
    """results/, logs, .snakemake and all beside them: the values stand in no file and no argv, and both were used."""
    monkeypatch.setenv("FT_TEST_KEY", BY_NAME)
    (tmp_path / "provider").mkdir()
    made = recipe(solution=[entry("answer.txt")], workspace=[], acceptance=[])
    with running(tmp_path / "provider", made, files={"answer.txt": b"42\n"}) as provider:
        (tmp_path / "lab").mkdir()
        lab = experiment(tmp_path / "lab", f"http://127.0.0.1:{provider.port}")
        with watched_command_lines() as on_command_lines:
            done = lab.snakemake()
        asked = provider.stop()
    assert done.returncode == 0, done.stdout + done.stderr
    results = lab.graded()
    assert [result["outcome"] for result in results] == ["green", "green"]
    assert {row["wire"] for row in asked if row["wire"] != "other"} == {"anthropic", "openai-responses"}
    sources = {r["harness"]: r["performance"]["time_cost"]["cost_source"] for r in results}
    assert sources == {"claude": "cli", "codex": "endpoint"}
    assert on_command_lines == set()
    files = [p for p in lab.folder.rglob("*") if p.is_file() and not p.is_symlink() and p.name != "key"]
    assert any(".snakemake" in p.parts for p in files) and any("logs" in p.parts for p in files)
    for value in (BY_NAME, BY_FILE):
        assert value not in done.stdout + done.stderr
        assert [str(p) for p in files if value.encode() in p.read_bytes()] == []
