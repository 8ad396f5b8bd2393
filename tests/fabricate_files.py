"""Side files and normalised events of one fabricated attempt. See fabricate.py."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import orjson

from tests.fabricate_records import Json, Settings, write


def side_files(folder: Path, grade: Path, key: str, fate: Json, draw: random.Random, settings: Settings) -> Json:
    """Trace, events, patch and output; returns what evidence.json says of the sealed ones."""
    content = {
        "trace.jsonl": b"".join(orjson.dumps(_traced(n, fate)) + b"\n" for n in range(4)),
        "workspace.patch": _patch(fate, draw).encode(),
        "agent-stdout.txt": b'{"type":"result"}\n',
        "agent-stderr.txt": b"",
    }
    for name, body in content.items():
        (folder / name).write_bytes(body)
    classes = zip(("task", "task", "task", "platform"), ("read", "mutation", None, "read"), strict=True)
    buckets = {
        "schema_version": 1, "counts": {"task": 3, "platform": 1, "tool_internal": 0}, "unproven": 0, "bypassed": 0,
        "commands": [{"seq": n, "span": f"s{n}", "bucket": b, "vc": vc} for n, (b, vc) in enumerate(classes)],
    }  # fmt: skip
    write(grade / "trace-buckets.json", buckets)
    write(grade / "agent-events.json", events(fate, settings.final_text))
    return {name: {"sha256": hashlib.sha256(body).hexdigest(), "bytes": len(body)} for name, body in content.items()}


def _traced(number: int, fate: Json) -> Json:
    started = int(fate["seconds"] * 1e9 * (0.1 + 0.2 * number))
    argv = (["git", "status"], ["git", "commit", "-m", "done"], ["python3", "-m", "unittest"], ["git", "log"])[number]
    return {
        "schema_version": 3, "seq": number, "span": f"s{number}", "parent_span": None, "depth": 0, "command": argv[0],
        "argv": argv, "cwd": "/task", "started_ns": started, "ended_ns": started + 20_000_000, "exit_status": 0,
        "signal": None, "stdin_bytes": 0, "stdout_bytes": 120, "stderr_bytes": 0, "merged": False, "stdout_path": None,
        "stderr_path": None, "output_truncated": False, "refused": False, "proven": True, "shim": "compiled",
        "pid": 10 + number, "ppid": 2, "sid": 2, "pgid": 2, "parent_is_main": True, "shlvl": False, "env_names": 9,
        "ancestors": ["/usr/bin/agent"], "snapshot": None,
    }  # fmt: skip


def _patch(fate: Json, draw: random.Random) -> str:
    added = draw.choice(("    return value", "    return value or None", "    return list(value)"))
    return (
        "diff --git a/tally/stats.py b/tally/stats.py\nindex 1111111..2222222 100644\n--- a/tally/stats.py\n"
        f"+++ b/tally/stats.py\n@@ -1,2 +1,3 @@\n def stats(value):\n-    pass\n+    # {fate['turns'] % 2}\n+{added}\n"
    )


def events(fate: Json, final_text: str | None = None) -> Json:
    """A valid agent-events.json."""
    step = int(fate["seconds"] * 1e9 / 5)
    calls = [
        {"id": f"c{n}", "order": 2 * n + 1, "name": ("Bash", "Edit")[n % 2], "kind": ("shell", "edit")[n % 2],
         "command": "git status" if n % 2 == 0 else None, "arguments": {"path": "tally/stats.py"},
         "started_ns": step * (n + 1), "ended_ns": step * (n + 1) + 90_000_000, "is_error": False, "exit_status": 0,
         "output_bytes": 120, "output_head": "On branch main", "complete": True}
        for n in range(3)
    ]  # fmt: skip
    tokens = dict.fromkeys(("input_uncached", "cache_read", "cache_write", "output", "reasoning"))
    text = "All seven keys are there." if final_text is None else final_text
    return {
        "schema_version": 1, "adapter": "fabricated", "parser": 1, "session_id": "s-1", "model_observed": "m",
        "cli_version": "2.1.0", "turns": fate["turns"], "cost_usd": fate["cost"], "cost_source": "cli",
        "tokens": tokens, "tokens_lower_bound": False, "api_seconds": None, "stop": "completed", "model_events": 3,
        "final_text": text, "errors": [], "warnings": [],
        "coverage": {"terminal_event": True, "lines": 9, "malformed_lines": [], "incomplete_tool_results": 0,
                     "unknown_events": {}},
        "messages": [{"order": 0, "role": "assistant", "text": "I shall look at the tests first.", "at_ns": step},
                     {"order": 8, "role": "assistant", "text": text, "at_ns": step * 4}],
        "tool_calls": calls, "requests": [],
    }  # fmt: skip
