"""How each agent program is started: with stand-ins for the real installs, laid out as npm and pip lay them out."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import Budget, Launch, LaunchRequest
from jsonschema import Draft202012Validator

DATA = Path(__file__).parents[1] / "data"
CASE = DATA / "harness-samples" / "cases" / "O14"
NAMES = ("aider", "claude", "codex", "gemini", "mini_swe_agent", "opencode", "pi", "qwen")
SECRET = "sk-very-secret-value"
NATIVE = {
    "claude": "lib/node_modules/@anthropic-ai/claude-code-linux-x64/claude",
    "codex": "lib/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
    "opencode": "lib/node_modules/opencode-ai/bin/opencode.exe",
}
SCRIPTS = {
    "codex": "lib/node_modules/@openai/codex/bin/codex.js",
    "claude": "lib/node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs",
    "gemini": "lib/node_modules/@google/gemini-cli/bundle/gemini.js",
    "pi": "lib/node_modules/@earendil-works/pi-coding-agent/dist/cli.js",
    "qwen": "lib/node_modules/@qwen-code/qwen-code/cli.js",
}
MODULES = {"mini_swe_agent": ("mini", "minisweagent/run/mini.py", "app"), "aider": ("aider", "aider/main.py", "main")}
GOT = "import hashlib, json, pathlib, sys\n"


def place(path: Path, text: str | bytes, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(mode)
    return path


def installed(name: str, root: Path) -> dict[str, Any]:
    """Options that name a stand-in install below `root`, laid out like the real one."""
    if name in MODULES:
        program, module, call = MODULES[name]
        base = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
        site = root / "venv/lib" / f"python3.{sys.version_info.minor}" / "site-packages"
        place(site / module, f"{GOT}def {call}():\n    reader(sys.argv)\n{READERS[name]}")
        (root / "venv/bin").mkdir(parents=True)
        (root / "venv/bin/python3").symlink_to(base)
        return {"bin": str(place(root / "venv/bin" / program, "#!/bin/sh\n"))}
    if name in NATIVE:
        place(root / NATIVE[name], b"\x7fELF stand-in")
        (root / "lib/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/codex-resources").mkdir(
            parents=True
        )
    target = root / SCRIPTS.get(name, NATIVE.get(name, ""))
    if not target.exists():
        place(target, "#!/usr/bin/env node\n")
    (root / "bin").mkdir()
    (root / "bin" / name).symlink_to(os.path.relpath(target, root / "bin"))
    place(root / "bin/node", f"#!{sys.executable}\n{GOT}{STDIN}")
    return {"bin": str(root / "bin" / name)}


STDIN = """
data = sys.stdin.buffer.read()
pathlib.Path("got").write_text(hashlib.sha256(data).hexdigest())
"""
READERS = {
    "mini_swe_agent": """
def reader(argv):
    import re
    text = pathlib.Path(argv[argv.index("-c", argv.index("-c") + 1) + 1]).read_text("ascii")
    text = re.sub(r"\\\\U([0-9a-f]{8})", lambda m: json.dumps(chr(int(m[1], 16)))[1:-1], text)
    pathlib.Path("got").write_text(hashlib.sha256(json.loads(text)["run"]["task"].encode()).hexdigest())
""",
    "aider": """
def reader(argv):
    data = pathlib.Path(argv[argv.index("--message-file") + 1]).read_bytes()
    pathlib.Path("got").write_text(hashlib.sha256(data).hexdigest())
""",
}


def request(tmp_path: Path, options: dict[str, Any], **changes: Any) -> LaunchRequest:
    for folder in ("home", "workspace", "scratch"):
        (tmp_path / folder).mkdir(exist_ok=True)
    model = {"name": "m", "id": "vendor/model-1", "provider": None, "wire": None, "options": {}, "rehearsal": False}
    given: dict[str, Any] = {
        "prompt": "do it", "workspace": "/task", "home": "/home/agent", "model": model, "options": options,
        "budget": Budget(60, turns=30, usd=2.0), "endpoint_url": "http://127.0.0.1:9", "secrets": {"TEAM_KEY": SECRET},
        "solution": None, "seed": 1, "scratch": tmp_path / "scratch",
    }  # fmt: skip
    return LaunchRequest(**{**given, **changes})


def adapter(name: str) -> Any:
    return importlib.import_module(f"fairtrial.harnesses.{name}.launch")


@pytest.mark.parametrize("name", NAMES)
def test_declarations(name: str) -> None:
    """Every adapter declares its numbers, caps, network and a schema of its options that refuses unknown ones."""
    launch = adapter(name)
    Draft202012Validator.check_schema(launch.OPTIONS)
    validator = Draft202012Validator(launch.OPTIONS)
    assert launch.PROTOCOL >= 1
    assert {"turns", "usd", "tokens"} >= launch.CAPS
    assert (launch.SIMULATED, launch.FREE, launch.NEEDS_SOLUTION, launch.NETWORK) == (False, False, False, "endpoint")
    assert validator.is_valid({"bin": "x", "args": ["--y"], "files": {"home/.a/b.md": "x", "workspace/AGENTS.md": "y"}})
    for wrong in ({"nope": 1}, {"args": "x"}, {"files": {"AGENTS.md": "x"}}, {"files": {"home/../x": "y"}}):
        assert not validator.is_valid(wrong), wrong


@pytest.mark.parametrize("name", NAMES)
def test_start(name: str, tmp_path: Path) -> None:
    """Binds are read-only at neutral places; the key is in the environment only; files go where they were asked for."""
    options = {
        **installed(name, tmp_path / "cli"),
        "args": ["--extra"],
        "files": {"home/a/b": "1", "workspace/AGENTS.md": "2"},
    }
    made: Launch = adapter(name).launch(request(tmp_path, options))
    assert all(b.target.startswith("/run/ft/cli/") and b.source.exists() and not b.writable for b in made.binds)
    assert "--extra" in made.argv
    assert str(tmp_path) not in " ".join(made.argv)
    assert SECRET in made.env.values()
    held = [*(a.encode() for a in made.argv), *made.home_files.values(), *made.workspace_files.values(), made.stdin]
    assert not any(SECRET.encode() in part for part in held)
    assert made.home_files["a/b"] == b"1"
    assert dict(made.workspace_files) == {"AGENTS.md": b"2"}
    assert "vendor/model-1" in " ".join(made.argv) + str(made.home_files)


@pytest.mark.parametrize("name", NAMES)
def test_rehearsal_needs_no_key_and_null_cap_passes_none(name: str, tmp_path: Path) -> None:
    """On the rehearsal model a placeholder stands for the key; without caps no cap is passed."""
    model = {"name": "rehearsal", "id": "rehearsal", "options": {}, "rehearsal": True}
    asked = request(tmp_path, installed(name, tmp_path / "cli"), model=model, secrets={}, budget=Budget(5))
    made = adapter(name).launch(asked)
    assert "rehearsal" in made.env.values()
    assert not [word for word in made.argv if "max-" in word]


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_of_205_kb_arrives_intact(name: str, tmp_path: Path) -> None:
    """Front matter, braces, quotes, `$` and more bytes than one argument may have reach the program unchanged."""
    made = subprocess.run([sys.executable, CASE / "make_prompt.py"], capture_output=True, check=True, timeout=30).stdout
    expected = json.loads((CASE / "expected.json").read_text())
    assert len(made) == expected["prompt_bytes"]
    options = installed(name, tmp_path / "cli")
    if name in NATIVE:  # any program at all may stand behind `bin`
        options = {"bin": str(place(tmp_path / "own" / name, f"#!{sys.executable}\n{GOT}{STDIN}"))}
    asked = request(
        tmp_path,
        options,
        prompt=made.decode(),
        home=str(tmp_path / "home"),
        workspace=str(tmp_path / "workspace"),
        boxed=False,
    )
    launch = adapter(name).launch(asked)
    for path, content in launch.home_files.items():
        place(tmp_path / "home" / path, content, 0o600)
    assert max(len(word) for word in launch.argv) < 10_000
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), **launch.env}
    subprocess.run(
        launch.argv,
        input=launch.stdin,
        env=env,
        cwd=tmp_path / "workspace",
        check=True,
        timeout=60,
        capture_output=True,
    )
    assert (tmp_path / "workspace/got").read_text() == expected["prompt_sha256"]


def protocol(name: str, tmp_path: Path) -> dict[str, Any]:
    """What an agent could notice of how it was started; the interpreter's own name differs from machine to machine."""
    options = {**installed(name, tmp_path / "cli"), "files": {"home/x": "1"}}
    model = {"name": "m", "id": "model-1", "options": {"effort": "high"}, "rehearsal": True}
    made: Launch = adapter(name).launch(request(tmp_path, options, model=model, secrets={}))
    words = [word for word in made.argv if "python3" not in word]
    return {
        "argv": words, "env": dict(made.env), "stdin": made.stdin.decode(), "collect": dict(made.collect),
        "home_files": {path: content.decode() for path, content in made.home_files.items()},
        "binds": sorted(b.target for b in made.binds if not b.target.startswith("/run/ft/cli/python")),
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_protocol_number_stands_for_how_it_is_started(name: str, tmp_path: Path) -> None:
    """A changed start needs a higher PROTOCOL in launch.py and the golden file of that number."""
    file = DATA / "golden" / f"protocol-{name}-{adapter(name).PROTOCOL}.json"
    made = protocol(name, tmp_path)
    if os.environ.get("FAIRTRIAL_WRITE_GOLDEN") and not file.exists():  # the file of a number is written once
        file.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n")
    assert file.exists(), "raise PROTOCOL, then write the new file: FAIRTRIAL_WRITE_GOLDEN=1 pytest"
    assert made == json.loads(file.read_text())


@pytest.mark.parametrize("name", NAMES)
def test_missing_program_is_said(name: str, tmp_path: Path) -> None:
    """A program that is not there is the fault cli_missing, at start and at the version probe, with what to install."""
    options = {"bin": str(tmp_path / "nowhere")}
    for ask in (lambda: adapter(name).launch(request(tmp_path, options)), lambda: adapter(name).probe_version(options)):
        with pytest.raises(Fault, match=r"cli_missing: .*nowhere is not there; install it with (npm|pip)"):
            ask()


def test_too_long_an_argument_names_the_limit(tmp_path: Path) -> None:
    """An extra argument over 128 KiB is the fault spawn with both numbers, not a crash of the start."""
    options = {**installed("claude", tmp_path / "cli"), "args": ["x" * 140_000]}
    with pytest.raises(Fault, match=r"spawn: argument .* has 140000 bytes; one may have 131071"):
        adapter("claude").launch(request(tmp_path, options))


def test_wire_the_program_does_not_speak(tmp_path: Path) -> None:
    """A model with another protocol is refused before anything is spent."""
    model = {"name": "m", "id": "x", "wire": "gemini", "options": {}}
    with pytest.raises(Fault, match="speaks gemini; this program speaks openai-responses"):
        adapter("codex").launch(request(tmp_path, installed("codex", tmp_path / "cli"), model=model))


PI_END = b'{"type":"agent_end","messages":[{"stopReason":"%s"}]}'
PI_RETRY = b'{"type":"auto_retry_end","success":%s}'


@pytest.mark.parametrize(
    ("name", "final", "others"),
    [
        (
            "claude",
            [b'{"a":1,"type":"result"}'],
            [b'{"x":"{\\"type\\":\\"result\\"}"}', b'"result"', b'{"type":"result"'],
        ),
        ("codex", [b'{"type":"turn.completed"}', b'{"type": "turn.failed"}'], [b'{"type":"error"}', b""]),
        ("gemini", [b'{"type":"result"}'], [b'{"type":"message","m":{"type":"result"}}']),
        ("qwen", [b'{"type":"result"}'], [b'{"type":"assistant"}']),
        (
            "pi",
            [PI_END % b"stop", PI_RETRY % b"false"],
            [PI_END % b"error", b'{"type":"agent_end"}', PI_RETRY % b"true"],
        ),
    ],
)
def test_final_event(name: str, final: list[bytes], others: list[bytes]) -> None:
    """The final event is known by its own type, wherever that stands, and not by a look-alike inside a string."""
    is_final = adapter(name).is_final_event
    assert all(is_final(line) for line in final)
    assert not any(is_final(line) for line in others)


@pytest.mark.parametrize("name", NAMES)
def test_documentation_says_the_same(name: str) -> None:
    """docs/harnesses.md names each adapter's install line, its caps and its options as the code declares them."""
    launch = adapter(name)
    text = (DATA.parents[1] / "docs" / "harnesses.md").read_text()
    row = next(line for line in text.splitlines() if line.startswith(f"| `{name.replace('_', '-')}` |"))
    assert launch.PACKAGE.split(" in a ")[0] in row
    assert row.split("|")[5].strip() == (", ".join(sorted(launch.CAPS)) or "none")
    assert all(f"`{option}`" in text for option in launch.OPTIONS["properties"])
    assert all(f"`{file}`" in text for file in launch.LOGIN_FILES)


def test_an_own_command_beside_the_results_shows_no_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program named from the current folder starts by its full path; its folder is shown unless they are in it."""
    from fairtrial.harnesses.command.launch import launch

    monkeypatch.chdir(tmp_path)
    tools = place(tmp_path / "tools" / "agent", "#!/bin/sh\n")
    beside = place(tmp_path / "agent", "#!/bin/sh\n")
    (tmp_path / "results" / "scratch").mkdir(parents=True)

    def started(template: str) -> tuple[str, set[Path]]:
        model = {"name": "m", "id": None, "options": {}}
        scratch = tmp_path / "results" / "scratch"
        options = {"template": template}
        made = launch(LaunchRequest("p", "/task", "/home/agent", model, options, Budget(1), None, {}, None, 0, scratch))
        return made.argv[0], {bind.source for bind in made.binds}

    assert started("./agent {prompt}") == started(f"{beside} {{prompt}}") == (str(beside), {beside})
    assert started("tools/agent {prompt}") == (str(tools), {tools.parent})
    assert started("python3 -V")[0] == "python3"
