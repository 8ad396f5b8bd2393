"""The endpoint as a meter: what goes to the provider and comes back, what is written down, and who called."""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from fairtrial.contracts import records
from fairtrial.contracts.protocols import Budget
from fairtrial.instruments.endpoint.turn import Answer, Move
from fairtrial.instruments.endpoint.wires import route

from tests.endpoint_rig import HEADERS, recipe, running
from tests.endpoint_wires import WIRES, Anthropic, Chat, whole_path

EACH = pytest.mark.parametrize("wire", WIRES, ids=lambda w: w.name)
TOKENS = {"input_uncached": 1000, "cache_read": 200, "cache_write": 0, "output": 50, "reasoning": 10}


class Provider(BaseHTTPRequestHandler):
    """Answers every protocol, streamed or whole; remembers what it was asked."""

    protocol_version = "HTTP/1.1"
    seen: ClassVar[list[tuple[str, dict[str, str], bytes]]] = []
    status = 200
    cut = False
    pause = 0.0

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        type(self).seen.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        to = route("POST", self.path.split("?")[0])
        assert to is not None
        if self.status != 200:
            self.whole(json.dumps(to.wire.refusal(self.status, "as the provider says")).encode())
            return
        answer = Answer(Move(text="hello"), "served-model", TOKENS, 1)
        if json.loads(body).get("stream") or "stream" in self.path:
            self.stream(to.wire.events(answer))
        else:
            self.whole(json.dumps(to.wire.whole(answer)).encode())

    def whole(self, data: bytes) -> None:
        self.send_response(self.status)
        self.send_header("content-type", "application/json")
        self.send_header("x-request-id", "req-1")
        if self.status == 429:
            self.send_header("Retry-After", "42")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events: list[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for at, event in enumerate(events):
            if at:
                time.sleep(self.pause)
            if self.cut and at:
                self.close_connection = True
                return
            self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@contextlib.contextmanager
def provider(tls: Path | None = None, **changes: Any) -> Iterator[tuple[type[Provider], str]]:
    kind = type("OneProvider", (Provider,), {"seen": [], **changes})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    scheme, host = "http", "127.0.0.1"
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        scheme, host = "https", "localhost"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield kind, f"{scheme}://{host}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def meter(url: str, **other: Any) -> dict[str, Any]:
    return recipe(rehearsal=False, base_url=url, **other)


@EACH
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_requests_pass_unchanged_and_are_metered(tmp_path, wire, stream):
    """Path, key and body reach the provider as they were, its answer the program; tokens and model are written down."""
    path = wire.path if stream else whole_path(wire)
    with provider() as (seen, url), running(tmp_path, meter(url)) as rig:
        body = wire.body(0, stream=stream)
        reply = rig.client().ask(path, body)
        rows = rig.stop()
    asked_path, headers, sent = seen.seen[0]
    assert (asked_path, json.loads(sent)) == (path, body)
    assert headers["x-api-key"] == HEADERS["x-api-key"] and headers["authorization"] == HEADERS["Authorization"]
    assert (wire.said if stream else wire.whole)(reply) == (None, "hello")
    row = rows[0]
    records.validate(row, "requests", "requests.jsonl")
    tokens = row["tokens"]
    assert (tokens["input_uncached"], tokens["cache_read"], tokens["output"]) == (1000, 200, 50)
    assert (row["model_observed"], row["status"], row["wire"], row["tool_calls"]) == ("served-model", 200, wire.name, 0)
    assert row["response_bytes"] == len(reply.body) and not row["simulated"]
    assert row["started_ns"] <= row["first_byte_ns"] <= row["ended_ns"]


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
def test_a_base_url_may_name_the_version(tmp_path, suffix):
    """`https://host/prefix/v1` and `https://host/prefix` are the same place."""
    with provider() as (seen, url), running(tmp_path, meter(f"{url}{suffix}")) as rig:
        rig.client().ask(Chat.path, Chat.body(0))
    assert seen.seen[0][0] == "/v1/chat/completions"


def test_no_secret_is_written_down(tmp_path):
    """Nothing below the attempt's folders holds a value of the headers."""
    with provider() as (_, url), running(tmp_path, meter(url)) as rig:
        rig.client().ask(Chat.path, Chat.body(0))
        rig.stop()
        written = [p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()]
    assert len(written) > 1 and not any(b"sk-very-secret" in content for content in written)


@EACH
def test_errors_of_the_provider_pass_through(tmp_path, wire):
    """Status, body and headers of an error are the provider's; it is no turn and has no tokens."""
    with provider(status=429) as (_, url), running(tmp_path, meter(url)) as rig:
        reply = rig.client().ask(wire.path, wire.body(0))
        rows = rig.stop()
        facts = rig.endpoint.facts()
    assert (reply.status, wire.error(reply)) == (429, "as the provider says")
    assert reply.headers["x-request-id"] == "req-1"
    assert (rows[0]["fault"], rows[0]["tokens"]["output"], facts["turns"]) == ("upstream 429", None, 0)
    assert rows[0]["retry_after_seconds"] == facts["retry_after_seconds"] == 42
    assert "req-1" not in json.dumps(rows)


@EACH
def test_a_provider_that_is_not_there_is_a_bad_gateway(tmp_path, wire):
    """The program gets 502 in its provider's shape, and the row says that it was upstream."""
    with running(tmp_path, meter("http://127.0.0.1:1")) as rig:
        reply = rig.client().ask(wire.path, wire.body(0))
        rows = rig.stop()
    assert reply.status == 502 and "cannot be reached" in wire.error(reply)
    assert rows[0]["fault"] == "upstream"


def test_an_answer_that_breaks_off_upstream_breaks_off_here(tmp_path):
    """The program must see the cut, not a whole answer."""
    with provider(cut=True) as (_, url), running(tmp_path, meter(url)) as rig:
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            rig.client().ask(Anthropic.path, Anthropic.body(0))
        rows = rig.stop()
        assert rig.endpoint.facts()["tokens_lower_bound"]
    assert (rows[0]["fault"], rows[0]["ended_ns"]) == ("upstream cut", None)


def test_a_request_is_written_down_when_it_begins(tmp_path):
    """A request that the end of the box cuts off is in the file while it runs and afterwards, unfinished."""
    with provider(pause=30) as (_, url), running(tmp_path, meter(url)) as rig:
        client = rig.client()
        client.connection.request("POST", Anthropic.path, json.dumps(Anthropic.body(0)), HEADERS)
        deadline = time.monotonic() + 20
        while not (live := rig.rows()) and time.monotonic() < deadline:
            time.sleep(0.02)
        client.connection.close()
        after = rig.stop()
    assert live[0]["ended_ns"] is None and len(after) == 1 and after[0]["ended_ns"] is None


def test_a_streamed_answer_is_passed_on_as_it_comes(tmp_path):
    """The first event is here long before the provider writes its last."""
    with provider(pause=0.2) as (_, url), running(tmp_path, meter(url)) as rig:
        rig.client().ask(Anthropic.path, Anthropic.body(0))
        row = rig.stop()[0]
    assert row["ended_ns"] - row["first_byte_ns"] > 0.8e9


def test_paths_that_are_not_listed_go_nowhere(tmp_path):
    """Only model requests leave the box."""
    with provider() as (seen, url), running(tmp_path, meter(url)) as rig:
        client = rig.client()
        for method, path in (("POST", "/v1/files"), ("GET", "/v1/messages"), ("POST", "/v1/messages/../files"),
                             ("POST", "//v1/messages"), ("DELETE", "/v1/models/x"),
                             ("POST", "/v1beta/models/../files/x:generateContent")):  # fmt: skip
            assert client.ask(path, {}, method).status == 404
    assert seen.seen == []


def test_dollar_cap_by_the_frozen_price(tmp_path):
    """1000 uncached, 200 cached and 50 out at 1, 0.1 and 10 dollars a million are 0.00152; the third is refused."""
    price = {"input": 1.0, "cache_read": 0.1, "output": 10.0, "date": "2026-11-01"}
    made = meter("", price=price)
    with provider() as (_, url):
        made["model"]["base_url"] = url
        with running(tmp_path, made, budget=Budget(60, usd=0.003)) as rig:
            client = rig.client()
            statuses = [client.ask(Chat.path, Chat.body(n)).status for n in range(3)]
            rows = rig.stop()
            facts = rig.endpoint.facts()
    assert statuses == [200, 200, 400]
    assert [row["cost_usd"] for row in rows] == [0.00152, 0.00152, None]
    assert facts["cost_usd"] == pytest.approx(0.00304) and facts["usd_cap_enforceable"]


def test_without_a_price_the_cost_is_unknown(tmp_path):
    """Unknown stays null, and the facts say that a dollar cap cannot be enforced."""
    with provider() as (_, url), running(tmp_path, meter(url), budget=Budget(60, usd=1)) as rig:
        rig.client().ask(Chat.path, Chat.body(0))
        rig.stop()
        facts = rig.endpoint.facts()
    assert (facts["cost_usd"], facts["usd_cap_enforceable"]) == (None, False)


def certificate(folder: Path) -> Path:
    """A key and a certificate for localhost that signs itself, in one file."""
    file = folder / "server.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
             "subjectAltName=DNS:localhost", "-keyout", str(file), "-out", str(folder / "cert.pem")]  # fmt: skip
    subprocess.run(["openssl", *words], check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + (folder / "cert.pem").read_bytes())
    return file


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_tls_is_verified(tmp_path, monkeypatch):
    """Over TLS a provider whose certificate is trusted is asked, and one whose is not gets no word, so no key."""
    pem = certificate(tmp_path)
    with provider(tls=pem) as (seen, url), running(tmp_path, meter(url)) as rig:
        assert rig.client().ask(Chat.path, Chat.body(0)).status == 502
        assert seen.seen == []
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    with provider(tls=pem) as (seen, url), running(tmp_path, meter(url)) as rig:
        assert Chat.said(rig.client().ask(Chat.path, Chat.body(0))) == (None, "hello")
        assert len(seen.seen) == 1


CALLER = """
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
connection.request("GET", "/v1/models")
connection.getresponse().read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="who calls is read from /proc, which only Linux has")
def test_a_caller_that_is_not_the_main_process_is_told(tmp_path):
    """The main process's own request is true, one of its children false, and the facts count it."""
    with running(tmp_path) as rig:
        rig.client().ask("/v1/models", method="GET")
        subprocess.run([sys.executable, "-c", CALLER, str(rig.port)], check=True)
        rows = rig.stop()
    assert [row["main_process"] for row in rows] == [True, False]
    assert rig.endpoint.facts()["foreign"] == 1


def test_a_caller_that_cannot_be_told_is_null(tmp_path):
    """Without the main process's files there is no answer, which is not `false`."""
    with running(tmp_path, main=2**22 + 1) as rig:
        rig.client().ask("/v1/models", method="GET")
        rows = rig.stop()
    assert rows[0]["main_process"] is None
