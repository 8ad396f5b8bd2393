"""docs/add-a-harness.md is true: its code blocks make a working adapter, and they touch one folder."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import fairtrial.harnesses
import pytest
from fairtrial import registry
from fairtrial.contracts.protocols import Streams
from fairtrial.contracts.records import validate
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli_rig import rehearse

PAGE = Path(__file__).parents[2] / "docs" / "add-a-harness.md"
BLOCK = re.compile(r"^```python (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def tinker(tmp_path_factory):
    """The page's program and adapter, the adapter found as if its folder stood in harnesses/."""
    root = tmp_path_factory.mktemp("page")
    for path, text in BLOCK.findall(PAGE.read_text()):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "program" / "tinker").chmod(0o755)
    fairtrial.harnesses.__path__.append(str(root / "harnesses"))
    importlib.invalidate_caches()
    yield root
    fairtrial.harnesses.__path__.remove(str(root / "harnesses"))
    for name in [name for name in sys.modules if name.startswith("fairtrial.harnesses.tinker")]:
        del sys.modules[name]


def entry(root, **more):
    return {"options": {"bin": str(root / "program" / "tinker")}, **more}


def test_the_adapter_is_one_folder(tinker):
    """Apart from the program, every code block of the page lies in harnesses/tinker, and that is enough to be found."""
    paths = [path for path, _ in BLOCK.findall(PAGE.read_text()) if not path.startswith("program/")]
    assert {str(Path(path).parent) for path in paths} == {"harnesses/tinker"}
    assert "tinker" in registry.names("fairtrial.harnesses")


def test_the_rehearsal_is_green(tinker, tmp_path):
    """The program goes through staging, box, endpoint, reader and judge; what it did and used is in the result."""
    usage = {"input_uncached": 10, "output": 5}
    seen = rehearse(tmp_path, "tinker", entry=entry(tinker), graded=True, options={"usage": usage})
    assert seen.result is not None and seen.result["outcome"] == "green", seen.reason
    assert (seen.became, seen.result["versions"]["harness_observed"]) == ("completed", "0.3.1")
    spent = seen.result["performance"]["time_cost"]
    assert (spent["turns"], spent["tokens"]["input_uncached"], spent["tokens"]["output"]) == (4, 40, 20)
    assert [call["kind"] for call in seen.read("tinker")["tool_calls"]] == ["shell", "shell", "shell"]


def test_it_works_without_a_box(tinker, tmp_path):
    """Where no box can be had the endpoint listens on this machine's loopback, and the caller is still known."""
    seen = rehearse(tmp_path, "tinker", entry=entry(tinker), graded=True, policy="none")
    assert seen.result is not None and seen.result["outcome"] == "green", seen.reason
    assert seen.evidence["isolation"]["backend"] != "bwrap"
    told = {row["main_process"] for row in seen.rows}
    assert told == {True} if sys.platform == "linux" else told == {None}


@pytest.mark.parametrize(
    ("options", "budget", "became"),
    [
        ({"faults": [{"kind": "status", "status": 401, "count": None}]}, {}, "fault:auth"),
        ({"faults": [{"kind": "status", "status": 500, "count": None}]}, {}, "fault:server_error"),
        ({"faults": [{"kind": "refused"}]}, {}, "fault:endpoint"),
        ({}, {"turns": 2}, "budget"),
    ],
    ids=["401", "500", "refused", "turn cap"],
)
def test_trouble_becomes_what_it_is(tinker, tmp_path, options, budget, became):
    """An auth error, a server error, a closed port and a cap that the endpoint enforces are each told apart."""
    seen = rehearse(tmp_path, "tinker", entry=entry(tinker), options=options, budget=budget)
    assert seen.became == became, seen.reason


HIDES = """
import json, os, sys, urllib.request, urllib.error
sys.stdin.read()
def ask():
    body = {"model": "m", "messages": [], "tools": [{"type": "function", "function": {"name": "bash"}}]}
    head = {"Content-Type": "application/json"}
    request = urllib.request.Request(os.environ["TINKER_URL"] + "/chat/completions", json.dumps(body).encode(), head)
    return urllib.request.urlopen(request).read()
ask()
print(json.dumps({"type": "usage", "model": "m", "prompt": 1, "completion": 1}))
try:
    ask()
except urllib.error.HTTPError:
    print(json.dumps({"type": "end", "text": "all good"}))
"""


def test_a_cap_holds_for_a_program_that_hides_it(tinker, tmp_path):
    """What ends on the endpoint's refusal is a budget ending, even when the program itself calls it success."""
    (tmp_path / "hides").write_text(
        "#!/usr/bin/env python3\nimport sys\n"
        "if sys.argv[1:] == ['--version']:\n    print('0.3.1')\n    sys.exit()\n" + HIDES
    )
    (tmp_path / "hides").chmod(0o755)
    hides = {"adapter": "tinker", "options": {"bin": str(tmp_path / "hides")}}
    seen = rehearse(tmp_path, "hides", entry=hides, budget={"turns": 1}, graded=True)
    assert (seen.became, seen.reason) == ("budget", "turn_cap")
    assert seen.result is not None and seen.result["outcome"] == "agent_error"


PAST = """
import json, subprocess, sys
if sys.argv[1:] == ["--version"]:
    print("0.3.1")
    sys.exit()
ask = ("import os, urllib.request as u; where = os.environ['TINKER_URL'] + '/chat/completions'; "
       "u.urlopen(u.Request(where, b'{}', {'Content-Type': 'application/json'}))")
exec(ask)
subprocess.run([sys.executable, "-c", ask], check=True)
print(json.dumps({"type": "usage", "model": "m", "prompt": 1, "completion": 1}))
print(json.dumps({"type": "end", "text": "done"}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="who calls is read from /proc, which only Linux has")
def test_a_call_past_the_program_is_a_finding(tinker, tmp_path):
    """A model request of another process than the program's own is in result.json, apart from right and wrong."""
    (tmp_path / "past").write_text("#!/usr/bin/env python3" + PAST)
    (tmp_path / "past").chmod(0o755)
    past = {"adapter": "tinker", "options": {"bin": str(tmp_path / "past")}}
    seen = rehearse(tmp_path, "past", entry=past, graded=True)
    assert seen.result is not None and seen.became == "completed", seen.reason
    told = seen.result["performance"]["compliance"]
    assert told["foreign_requests"] == 1 and "foreign_requests" in told["checked"]
    assert [v["detail"] for v in told["violations"] if v["rule"] == "foreign_requests"] == ["/v1/chat/completions"]


@settings(max_examples=50, deadline=None)
@given(data=st.binary(max_size=300))
def test_its_reader_takes_any_bytes(tinker, data):
    """The reader of the page never raises, and what it returns is a valid events record."""
    reader = importlib.import_module("fairtrial.harnesses.tinker.events")
    lines = b'{"type":"call","id":"1","command":"ls"}\n{"type":"result","id":"1","status":3}\n'
    record = reader.read(Streams(lines + data, data))
    validate(json.loads(json.dumps(record)), "events", "events")
    assert len(record["tool_calls"]) == 1 and record["tool_calls"][0]["is_error"]
