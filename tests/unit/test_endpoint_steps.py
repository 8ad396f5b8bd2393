"""From a solution to tool calls: every byte arrives, every program's tools are understood; options and merging."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from fairtrial.contracts.errors import UserError
from fairtrial.instruments.endpoint import options, steps, tools
from fairtrial.instruments.endpoint.merge import merged
from fairtrial.instruments.endpoint.sse import objects
from fairtrial.instruments.endpoint.turn import Move, Tool
from fairtrial.instruments.endpoint.wires import anthropic, chat, gemini, responses, route
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.endpoint_rig import entry, recipe

STRING = {"type": "string"}
CONTENTS = st.one_of(st.binary(max_size=200), st.text(max_size=80).map(lambda t: t.encode("utf-8", "replace")))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=CONTENTS)
def test_shell_commands_write_exactly_the_bytes(tmp_path, content):
    """Any content, in a folder that is not there yet and under a name with blanks and quotes."""
    path = 'new dir/it\'s a "file"'
    for command in steps.writing(path, content):
        subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    assert (tmp_path / path).read_bytes() == content


def test_long_files_are_written_in_pieces(tmp_path):
    """A file of a megabyte goes through commands that are each short enough for one argument."""
    content = bytes(range(256)) * 4096
    commands = steps.writing("big", content)
    assert all(len(command) < 128 * 1024 for command in commands)
    for command in commands:
        subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    assert (tmp_path / "big").read_bytes() == content


def test_a_script_is_one_step(tmp_path):
    """solve-<toolset>.sh comes before solve.sh and is run as one shell command; a failing draw leaves it out."""
    for name in ("solve.sh", "solve-jj.sh"):
        (tmp_path / name).write_text(f"echo {name}\n")
    made = recipe(solution=[entry("solve.sh"), entry("solve-jj.sh")], acceptance=[], toolset={"name": "jj"})
    plan = steps.steps(made, tmp_path, passes=True)
    assert [step.commands[0] for step in plan] == [
        "bash <<'FAIRTRIAL_END'\necho solve-jj.sh\nFAIRTRIAL_END",
        "git status --short",
    ]
    assert len(steps.steps(made, tmp_path, passes=False)) == 1


def test_modes_and_links_are_kept(tmp_path):
    """An executable is made executable and a link is made a link."""
    (tmp_path / "solution").mkdir()
    (tmp_path / "solution" / "run").write_text("#!/bin/sh\n")
    made = recipe(solution=[entry("run", "exec"), entry("to", "link", "run")], workspace=[], acceptance=[])
    place = tmp_path / "place"
    place.mkdir()
    for step in steps.steps(made, tmp_path / "solution", passes=True)[:-1]:
        for command in step.commands:
            subprocess.run(["sh", "-c", command], cwd=place, check=True)
    assert (place / "run").stat().st_mode & 0o111 and (place / "to").readlink().name == "run"


def tool(name: str, *required: str, **properties: Any) -> Tool:
    return Tool(name, {key: {"type": value} for key, value in properties.items()}, required)


WRITE = steps.Step("write", "a.py", "x\n", ("cat > a.py",))
PROGRAMS = {
    "claude": ((tool("Bash", "command", command="string"), tool("Write", "file_path", "content", file_path="string",
               content="string")), Move(tool="Write", arguments={"file_path": "/task/a.py", "content": "x\n"})),
    "opencode": ((tool("bash", command="string"), tool("write", filePath="string", content="string")),
                 Move(tool="write", arguments={"filePath": "/task/a.py", "content": "x\n"})),
    "pi": ((tool("bash", command="string"), tool("write", path="string", content="string")),
           Move(tool="write", arguments={"path": "/task/a.py", "content": "x\n"})),
    "gemini": ((tool("run_shell_command", command="string"), tool("write_file", file_path="string", content="string")),
               Move(tool="write_file", arguments={"file_path": "/task/a.py", "content": "x\n"})),
    "mini": ((tool("bash", command="string"),), Move(tool="bash", arguments={"command": "cat > a.py"})),
    "codex": ((tool("exec_command", "cmd", cmd="string", workdir="string"),),
              Move(tool="exec_command", arguments={"cmd": "cat > a.py", "workdir": "/task"})),
    "codex, older": ((tool("shell", command="array"),),
                     Move(tool="shell", arguments={"command": ["bash", "-c", "cat > a.py"]})),
    "codex, patches": ((Tool("apply_patch", free_form=True), tool("shell_command", command="string")),
                       Move(tool="apply_patch", arguments="*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch\n")),
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_write_becomes_the_offered_tool(program):
    """Each program's own tool and parameter names are used; where there is only a shell, a command."""
    offered, want = PROGRAMS[program]
    plan = steps.as_moves([WRITE], edits=tools.can_edit(offered))
    assert tools.call(plan[0], offered, "/task") == want


def test_required_parameters_are_filled():
    """What a tool requires beyond what we mean gets a harmless value of its type."""
    about = {
        "command": STRING,
        "description": STRING,
        "how": {"enum": ["a", "b"]},
        "wait": {"type": ["integer", "null"]},
    }
    made = tools.shell("ls", [Tool("bash", about, tuple(about))], "/task").arguments
    assert made == {"command": "ls", "description": "rehearsal", "how": "a", "wait": 1}


@pytest.mark.parametrize(
    ("given_options", "words"),
    [
        ({"pass_probability": 2}, "options.pass_probability"),
        ({"pas_probability": 1}, "pas_probability"),
        ({"faults": [{"kind": "status"}]}, "needs a status"),
        ({"faults": [{"kind": "delay"}]}, "needs seconds"),
        ({"faults": [{"kind": "refused", "count": 2}]}, "lasts to the end"),
        ({"faults": [{"kind": "nonsense"}]}, "nonsense"),
        ({"usage": {"output": -1}}, "options.usage.output"),
    ],
)
def test_wrong_options_are_told(given_options, words):
    """A mistake in models.yaml is one line that names the file, the model and the key."""
    with pytest.raises(UserError, match=r"models\.yaml: m: options") as told:
        options.check(given_options, "models.yaml: m")
    assert words in str(told.value)


FACTS = {
    "kind": "meter", "requests": 3, "turns": 3, "api_seconds": 1.5, "model_observed": "served", "cost_usd": 0.5,
    "tokens": {"input_uncached": 10, "cache_read": 0, "cache_write": None, "output": 5, "reasoning": None},
    "tokens_lower_bound": False,
}  # fmt: skip
SILENT = {
    "turns": None, "api_seconds": None, "model_observed": None, "cost_usd": None, "cost_source": None,
    "tokens": dict.fromkeys(FACTS["tokens"]), "tokens_lower_bound": False,
}  # fmt: skip
SPOKEN = {**SILENT, "turns": 2, "cost_usd": 0.1, "cost_source": "cli", "tokens": {**FACTS["tokens"], "output": 4}}


def test_the_endpoint_fills_what_the_program_does_not_say():
    """Cost with its source, turns, API time, model and tokens come from the meter only where nothing was said."""
    filled = merged(SILENT, FACTS)
    assert (filled["cost_usd"], filled["cost_source"], filled["turns"]) == (0.5, "endpoint", 3)
    assert filled["tokens"] == FACTS["tokens"] and filled["model_observed"] == "served"
    kept = merged(SPOKEN, FACTS)
    assert (kept["cost_usd"], kept["cost_source"], kept["turns"], kept["tokens"]["output"]) == (0.1, "cli", 2, 4)
    assert merged(SPOKEN, None) == merged(SPOKEN, {**FACTS, "requests": 0}) == SPOKEN


def test_a_killed_program_gets_the_meters_tokens():
    """A lower bound gives way to what the meter saw; it stays one when an answer was torn."""
    killed = {**SPOKEN, "tokens_lower_bound": True}
    assert merged(killed, FACTS)["tokens"]["output"] == 5
    assert not merged(killed, FACTS)["tokens_lower_bound"]
    assert merged(killed, {**FACTS, "tokens_lower_bound": True})["tokens_lower_bound"]


def test_a_rehearsal_has_no_invented_cost():
    """Programs make up a price for a model they do not know; a rehearsal costs what its price table says, or null."""
    played = merged(SPOKEN, {**FACTS, "kind": "rehearsal", "cost_usd": None})
    assert (played["cost_usd"], played["cost_source"]) == (None, None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["messages", "content", "tools", "type", "input", "choices", "delta", "message", "usage", "tool_calls", "name",
         "contents", "parts", "functionDeclarations", "function", "response", "item", "index", "stream", "model"]),
        inner, max_size=4), max_leaves=12)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(
    body=st.dictionaries(st.sampled_from(["messages", "tools", "input", "contents", "stream", "model"]), JSON),
    more=JSON,
)
def test_no_request_or_answer_breaks_a_protocol(body, more):
    """Whatever a program or a provider sends, reading it never raises."""
    for wire in (anthropic, chat, gemini, responses):
        wire.asked("/v1beta/models/m:generateContent", body)
        wire.said([body, *([more] if isinstance(more, dict) else [])])


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_break_the_stream_reader(data):
    """Torn, foreign and binary answers give the objects that are whole."""
    assert all(isinstance(found, dict) for found in objects(data) + objects(b"data: " + data))


def test_routes():
    """The list of what an agent program may ask."""
    known = {
        ("POST", "/v1/messages"): "anthropic", ("POST", "/v1/responses"): "openai-responses",
        ("POST", "/v1/chat/completions"): "openai-chat",
        ("POST", "/v1beta/models/gemini-3-pro:streamGenerateContent"): "gemini",
    }  # fmt: skip
    for (method, path), name in known.items():
        found = route(method, path)
        assert found is not None and (found.wire.NAME, found.kind) == (name, "generate")
    assert route("GET", "/v1/messages") is None and route("POST", "/v1/messages/x") is None


def test_any_command_finds_the_endpoint(tmp_path):
    """A program behind the `command` adapter is told the endpoint under the names programs read, and its own win."""
    from fairtrial.contracts.protocols import Budget, LaunchRequest
    from fairtrial.harnesses.command.launch import launch

    def environment(url: str | None, rehearsal: bool) -> dict[str, str]:
        made = {"name": "m", "id": "m", "options": {}, "rehearsal": rehearsal}
        given_options = {"template": "true", "env": {"OPENAI_API_BASE": "mine"}}
        asked = LaunchRequest("p", "/task", "/home/agent", made, given_options, Budget(1), url, {}, None, 0, tmp_path)
        return dict(launch(asked).env)

    found = environment("http://127.0.0.1:1", True)
    assert found["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1" and found["OPENAI_BASE_URL"] == "http://127.0.0.1:1/v1"
    assert (found["OPENAI_API_KEY"], found["OPENAI_API_BASE"]) == ("rehearsal", "mine")
    assert "OPENAI_API_KEY" not in environment("http://127.0.0.1:1", False)
    assert environment(None, True) == {"OPENAI_API_BASE": "mine"}
