"""What an agent may send to its endpoint: it may break its own answers, never the attempt or the record."""

from __future__ import annotations

import contextlib
import http.client
import socket
import subprocess
import sys
from typing import Any

import pytest
from fairtrial.instruments.endpoint import journal, sse

from tests.endpoint_rig import recipe, running

PATHS = [
    "/v1/messages", "/v1/messages/count_tokens", "/v1/responses", "/v1/chat/completions",
    "/v1beta/models/x:generateContent", "/v1beta/models/x:streamGenerateContent", "/v1beta/models/x:countTokens",
]  # fmt: skip
BODIES = [
    b"", b"\xff\xfe", b"null", b"[]", b"1e999", b'"\\ud800"', b"[" * 200_000, b'{"a":' * 100_000,
    b'{"messages":' + b"[" * 150_000 + b"]" * 150_000 + b"}", b'{"model":' + b"9" * 5000 + b"}",
    *(b'{"%s":%s}' % (key, value) for key in (b"messages", b"input", b"contents", b"tools", b"model", b"stream")
      for value in (b"1", b'"x"', b"[1]", b"[null]", b"[[]]", b'[{"content":1}]', b'[{"parts":[1]}]',
                    b'[{"function":1,"name":[],"role":{}}]', b'[{"content":[{"type":[],"id":{}}]}]')),
]  # fmt: skip


def ask(port: int, path: str, body: bytes) -> int | None:
    """The status, None where the connection was closed."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("POST", path, body)
        return connection.getresponse().status
    return None


@pytest.mark.parametrize("path", PATHS)
def test_no_body_breaks_the_endpoint(tmp_path, path):
    """Whatever is sent: no fault of the endpoint comes of it, which would make the attempt no result."""
    with running(tmp_path, recipe()) as rig:
        for body in BODIES:
            assert ask(rig.port, path, body) is not None, body[:60]
            assert rig.endpoint.stop_reason() is None, body[:60]
        assert len(rig.stop()) == len(BODIES)


@pytest.mark.parametrize(
    "target",
    ["http://elsewhere/v1/messages", "m://x/v1/messages", "//elsewhere/v1/messages", "/v1/files/../messages",
     "/v1/messages#x", "/v1/messages/", "/v1/files?x=/v1/messages", "/v1/%2e%2e/v1/messages"],
)  # fmt: skip
def test_only_paths_of_the_list_are_forwarded(tmp_path, target):
    """Another spelling that a library reads as an allowed path would reach another host or path of the provider."""
    made = recipe(rehearsal=False, base_url="http://127.0.0.1:1")
    with running(tmp_path, made) as rig, socket.create_connection(("127.0.0.1", rig.port)) as client:
        head = f"POST {target} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
        client.sendall(head.encode())
        assert client.recv(1 << 16).split(b" ")[1] == b"404"
        assert rig.endpoint.stop_reason() is None


def test_answers_that_cannot_be_read_say_nothing():
    """A provider's answer nested without end has no usage, and is passed on as it is."""
    assert sse.objects(b"[" * 200_000) == []
    assert sse.objects(b"data: " + b'{"a":' * 100_000 + b"\n") == []


def test_what_another_process_breaks_is_its_own_affair(tmp_path, monkeypatch):
    """An error while a process answers that is not the agent program's main one does not end the attempt."""
    program = "import sys, urllib.request as u\ntry: u.urlopen(sys.argv[1], b'{}')\nexcept OSError as e: print(e)"

    def broken(*_: Any) -> None:
        raise RuntimeError("a mistake of ours")

    with running(tmp_path, recipe()) as rig:
        monkeypatch.setattr("fairtrial.instruments.endpoint.rehearsal.Rehearsal.answer", broken)
        url = f"http://127.0.0.1:{rig.port}/v1/messages"
        said = subprocess.run([sys.executable, "-c", program, url], capture_output=True, text=True, check=True).stdout
        assert "500" in said and rig.endpoint.stop_reason() is None
        ask(rig.port, "/v1/messages", b"{}")
        assert str(rig.endpoint.stop_reason()).startswith("endpoint: RuntimeError")


def test_a_flood_is_counted_and_not_listed(tmp_path, monkeypatch):
    """Requests for nothing grow neither memory nor requests.jsonl without end; their number is known."""
    monkeypatch.setattr(journal, "MOST_OTHERS", 5)
    with running(tmp_path, recipe()) as rig:
        assert {ask(rig.port, f"/nothing/{n}", b"{}") for n in range(20)} == {404}
        assert ask(rig.port, "/v1/messages", b"{}") == 200
        rows = rig.stop()
        facts = rig.endpoint.facts()
    assert [row["order"] for row in rows] == list(range(6))
    assert (facts["other_requests"], facts["requests"]) == (20, 1)
