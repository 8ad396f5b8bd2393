"""The rehearsal model over each protocol: it plays the solution, and its faults are those that were planned."""

from __future__ import annotations

import http.client
import time

import pytest
from fairtrial.contracts import records
from fairtrial.contracts.protocols import Budget

from tests.endpoint_rig import FILES, recipe, running
from tests.endpoint_wires import WIRES, Anthropic, Chat, whole_path

USAGE = {"input_uncached": 1111, "cache_read": 2222, "cache_write": 333, "output": 44, "reasoning": 5}
EACH = pytest.mark.parametrize("wire", WIRES, ids=lambda w: w.name)


@EACH
def test_the_solution_is_played_step_by_step(tmp_path, wire):
    """Step n follows n tool calls in the conversation: read, write, write, check, and then a text."""
    with running(tmp_path) as rig:
        client = rig.client()
        said = [wire.said(client.ask(wire.path, wire.body(calls))) for calls in range(5)]
    commands = [command for command, _ in said]
    assert commands[0] == "cat app.py"
    assert commands[1].startswith("cat > app.py <<") and "print('solved')\n" in commands[1]
    assert commands[2].startswith("mkdir -p docs && cat > docs/new.md")
    assert commands[3] == "python3 -m unittest acceptance.test_acceptance"
    assert said[4] == (None, "Done.")


@EACH
def test_an_answer_in_one_piece_says_the_same(tmp_path, wire):
    """Without streaming the same moves come as one JSON document."""
    with running(tmp_path) as rig:
        client = rig.client()
        reply = client.ask(whole_path(wire), wire.body(0, stream=False))
        assert wire.whole(reply) == ("cat app.py", None)
        assert reply.headers["content-type"] == "application/json"
        assert wire.whole(client.ask(whole_path(wire), wire.body(9, stream=False))) == (None, "Done.")


@EACH
def test_a_retried_request_gets_the_same_step(tmp_path, wire):
    """The step comes from the conversation, so asking again never moves on, and a request without tools is aside."""
    with running(tmp_path) as rig:
        client = rig.client()
        first = wire.said(client.ask(wire.path, wire.body(1)))
        aside = wire.said(client.ask(wire.path, wire.body(0, tools=False)))
        assert wire.said(client.ask(wire.path, wire.body(1))) == first
        assert aside == (None, "Rehearsal")


@EACH
def test_planned_usage_is_metered_exactly(tmp_path, wire):
    """What the answer says about tokens and what requests.jsonl holds are the same numbers, normalised."""
    with running(tmp_path, recipe(options={"usage": USAGE})) as rig:
        rig.client().ask(wire.path, wire.body(0))
        rig.client().ask(whole_path(wire), wire.body(0, stream=False))
        rows = rig.stop()
        facts = rig.endpoint.facts()
    writes, thoughts = (333, None) if wire is Anthropic else (None, 5)
    want = {"input_uncached": 1111, "cache_read": 2222, "cache_write": writes, "output": 44, "reasoning": thoughts}
    assert [row["tokens"] for row in rows] == [want, want]
    assert facts["tokens"] == {key: None if value is None else 2 * value for key, value in want.items()}
    assert [row["model_observed"] for row in rows] == ["model-x"] * 2
    assert [row["tool_calls"] for row in rows] == [1, 1]


@EACH
def test_error_statuses_and_then_an_answer(tmp_path, wire):
    """A planned status comes as often as planned, in the provider's words and with its header, and no turn is used."""
    fault = {"kind": "status", "status": 429, "count": 2, "retry_after": 0.5}
    with running(tmp_path, recipe(options={"faults": [fault]})) as rig:
        client = rig.client()
        replies = [client.ask(wire.path, wire.body(0)) for _ in range(3)]
        rows = rig.stop()
        assert rig.endpoint.facts()["turns"] == 1
    assert [reply.status for reply in replies] == [429, 429, 200]
    assert "rate limit" in wire.error(replies[0])
    assert replies[0].headers["retry-after"] == "0.5"
    assert [row["fault"] for row in rows] == ["status 429", "status 429", None]
    assert [row["retry_after_seconds"] for row in rows] == [0.5, 0.5, None]


@EACH
def test_a_cut_answer_breaks_off(tmp_path, wire):
    """Part of the answer arrives, then the connection is gone; the row says so and its tokens are a lower bound."""
    price = {"input": 1.0, "output": 1.0, "date": "2026-11-01"}
    with running(tmp_path, recipe(options={"faults": [{"kind": "cut"}]}, price=price)) as rig:
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            rig.client().ask(wire.path, wire.body(0))
        assert rig.client().ask(wire.path, wire.body(0)).status == 200
        rows = rig.stop()
        facts = rig.endpoint.facts()
    assert (rows[0]["fault"], rows[0]["ended_ns"]) == ("cut", None)
    assert rows[1]["ended_ns"] is not None
    assert facts["tokens_lower_bound"] and facts["turns"] == 1 and facts["cost_usd"] is None


def test_refused_from_the_start(tmp_path):
    """A model that refuses from request 1 listens nowhere."""
    with running(tmp_path, recipe(options={"faults": [{"kind": "refused"}]})) as rig, pytest.raises(ConnectionError):
        rig.client().ask(Chat.path, Chat.body(0))


def test_refused_from_the_second_request(tmp_path):
    """Open connections break and new ones are refused from the planned request on."""
    with running(tmp_path, recipe(options={"faults": [{"kind": "refused", "first": 2}]})) as rig:
        client = rig.client()
        assert client.ask(Chat.path, Chat.body(0)).status == 200
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            client.ask(Chat.path, Chat.body(1))
        with pytest.raises(ConnectionError):
            rig.client().ask(Chat.path, Chat.body(1))


def test_delays_are_waited_for(tmp_path):
    """A planned delay passes before the first byte, and only at its request."""
    options = {"faults": [{"kind": "delay", "seconds": 0.5, "first": 2}]}
    with running(tmp_path, recipe(options=options)) as rig:
        client = rig.client()
        client.ask(Chat.path, Chat.body(0))
        began = time.monotonic()
        client.ask(Chat.path, Chat.body(1))
        assert time.monotonic() - began >= 0.5
        first, second = rig.stop()
    assert first["first_byte_ns"] - first["started_ns"] < 4e8 < second["first_byte_ns"] - second["started_ns"]


@pytest.mark.parametrize("seed", range(8))
def test_the_draw_is_seeded_and_a_failing_one_stops_before_the_last_file(tmp_path, seed):
    """The same seed draws the same; who fails has written every file but the last, and says so."""
    made = recipe(options={"pass_probability": 0.5})
    texts = []
    for _ in range(2):
        with running(tmp_path, made, seed=seed) as rig:
            client = rig.client()
            said = [Chat.said(client.ask(Chat.path, Chat.body(calls))) for calls in range(5)]
            passes = rig.endpoint.facts()["planned_to_pass"]
        texts.append([command or text for command, text in said])
    assert texts[0] == texts[1]
    assert passes == any("docs/new.md" in (text or "") for text in texts[0])
    assert ("Done." in texts[0]) == passes and ("Stopped early." in texts[0]) == (not passes)


@EACH
@pytest.mark.parametrize(
    ("cap", "budget", "words"),
    [
        ("turns", {"turns": 2}, "fairtrial turn cap reached: 2 turns"),
        ("tokens", {"tokens": 2300}, "fairtrial token cap reached"),
        ("usd", {"usd": 0.002}, "fairtrial usd cap reached"),
    ],
)
def test_caps_refuse_in_words_that_the_readers_know(tmp_path, wire, cap, budget, words):
    """After the cap a request is refused with 400 in the provider's shape, which the transcript readers know again."""
    from fairtrial.wire.failure import cap_of

    price = {"input": 1.0, "cache_read": 0.0, "cache_write": 0.0, "output": 0.0, "date": "2026-11-01"}
    usage = {"input_uncached": 1111, "output": 44}
    made = recipe(options={"usage": usage}, price=price)
    with running(tmp_path, made, budget=Budget(60, **budget)) as rig:
        client = rig.client()
        statuses = [client.ask(wire.path, wire.body(n)).status for n in range(2)]
        refused = client.ask(wire.path, wire.body(2))
        rows = rig.stop()
        facts = rig.endpoint.facts()
    assert [*statuses, refused.status] == [200, 200, 400]
    assert words in wire.error(refused)
    assert cap_of(wire.error(refused)) == {"turns": "turn_cap", "tokens": "token_cap", "usd": "usd_cap"}[cap]
    assert [row["refused"] for row in rows] == [None, None, cap]
    assert facts["refused"] == [cap] and facts["cost_usd"] == pytest.approx(2222e-6)


def test_side_requests_are_no_turns_but_for_a_program_without_tools(tmp_path):
    """A title request uses no turn of a program that has tools; one that never offers tools has its answers counted."""
    with running(tmp_path, budget=Budget(60, turns=2)) as rig:
        client = rig.client()
        asked = [(0, False), (0, True), (1, False), (1, True), (2, False), (2, True)]
        statuses = [client.ask(Chat.path, Chat.body(n, tools=tools)).status for n, tools in asked]
    assert statuses == [200, 200, 200, 200, 200, 400]
    with running(tmp_path, budget=Budget(60, turns=2)) as rig:
        client = rig.client()
        assert [client.ask(Chat.path, Chat.body(0, tools=False)).status for _ in range(3)] == [200, 200, 400]
        rig.stop()
        assert rig.endpoint.facts()["turns"] == 2


def test_a_program_that_does_not_take_the_refusal_is_ended(tmp_path):
    """Five refusals give the sandbox a reason to end the agent: the cap's."""
    with running(tmp_path, budget=Budget(60, turns=1)) as rig:
        client = rig.client()
        client.ask(Chat.path, Chat.body(0))
        assert rig.endpoint.stop_reason() is None
        for _ in range(5):
            client.ask(Chat.path, Chat.body(1))
        assert rig.endpoint.stop_reason() == "turn_cap"


def test_caps_of_the_program_itself_are_not_counted_twice(tmp_path):
    """What the adapter says the program enforces, the endpoint leaves to it."""
    with running(tmp_path, budget=Budget(60, turns=1), own_caps={"turns"}) as rig:
        client = rig.client()
        assert [client.ask(Chat.path, Chat.body(n)).status for n in range(3)] == [200, 200, 200]


def test_every_row_is_a_valid_record(tmp_path):
    """requests.jsonl holds the schema's records: answered, refused, faulty, unknown and counted ones."""
    faults = [{"kind": "status", "status": 500}]
    with running(tmp_path, recipe(options={"faults": faults}), budget=Budget(60, turns=1)) as rig:
        client = rig.client()
        for _ in range(3):
            client.ask(Chat.path, Chat.body(0))
        client.ask("/elsewhere", {})
        assert client.ask("/v1/messages/count_tokens", {"messages": []}).json["input_tokens"] > 0
        client.ask("/v1/models", method="GET")
        assert client.ask("/", method="HEAD").status == 200
        rows = rig.stop()
    for row in rows:
        records.validate(row, "requests", "requests.jsonl")
    assert [row["status"] for row in rows] == [500, 200, 400, 404, 200, 200, 200]
    assert [row["wire"] for row in rows[3:]] == ["other"] * 4


def test_the_files_written_are_the_solution(tmp_path):
    """The shell commands of the steps, run by a shell, make exactly the solution's files."""
    import subprocess

    with running(tmp_path) as rig:
        client = rig.client()
        commands = [Chat.said(client.ask(Chat.path, Chat.body(calls)))[0] for calls in range(1, 3)]
    place = tmp_path / "workspace"
    for command in commands:
        subprocess.run(["sh", "-c", command], cwd=place, check=True)
    assert {path: (place / path).read_bytes() for path in FILES} == FILES


@pytest.mark.parametrize("fence", ["```", "````", "<source>"])
def test_a_program_without_tools_gets_whole_files(tmp_path, fence):
    """Where the request asks for file listings, the solution's files come as text between the fences it names, once."""
    system = f"return a *file listing* like this:\n\npath/to/filename.js\n{fence}\n// entire content\n{fence}\n"
    with running(tmp_path) as rig:
        body = {"model": "m", "messages": [{"role": "system", "content": system}]}
        _, text = Chat.whole(rig.client().ask(Chat.path, body))
        body["messages"].append({"role": "assistant", "content": text})
        _, again = Chat.whole(rig.client().ask(Chat.path, body))
    closing = fence.replace("<", "</")
    listed = [f"app.py\n{fence}\nprint('solved')\n{closing}", f"docs/new.md\n{fence}\n# New\n{closing}", "Done."]
    assert (text, again) == ("\n\n".join(listed), "Done.")
