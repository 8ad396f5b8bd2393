"""Finds secrets in evidence before it leaves the machine: known values in every encoding, then patterns.

Raw JSON hides tokens from patterns (a `\\n` before a token is no word boundary), so patterns run over a decoded view.
What is packed (_packed.py) is looked into. A finding names the file and the kind, never the value: a file whose name
holds a secret is shown with a mark in its place.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from fairtrial.analysis.export._packed import views

SHORTEST = 8  # a shorter value would be found everywhere by chance
MARK = b"[...]"
_SPACE = b" \t\r\n"

# How a token begins, in one of these words, and goes on. The words are looked for first: ten times as fast as one
# expression for all of them.
PATTERNS: Mapping[str, tuple[tuple[bytes, ...], bytes]] = {
    "Anthropic key": ((b"sk-ant-",), rb"[A-Za-z0-9_-]{16,}"),
    "OpenAI key": ((b"sk-",), rb"(?!ant-)(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}"),
    "Google API key": ((b"AIza",), rb"[0-9A-Za-z_-]{35}"),
    "Google OAuth token": ((b"ya29.",), rb"[0-9A-Za-z_-]{20,}"),
    "GitHub token": ((b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), rb"[A-Za-z0-9]{36,}"),
    "GitHub fine-grained token": ((b"github_pat_",), rb"[A-Za-z0-9_]{40,}"),
    "GitLab token": ((b"glpat-",), rb"[A-Za-z0-9_-]{20,}"),
    "AWS access key id": ((b"AKIA", b"ASIA"), rb"[0-9A-Z]{16}"),
    "Slack token": ((b"xox",), rb"[abeoprs]-[A-Za-z0-9-]{10,}"),
    "npm token": ((b"npm_",), rb"[A-Za-z0-9]{36}"),
    "PyPI token": ((b"pypi-AgEIcHlwaS5vcmc",), rb"[A-Za-z0-9_-]{50,}"),
    "Hugging Face token": ((b"hf_",), rb"[A-Za-z0-9]{34,}"),
    "Stripe key": ((b"rk_live_", b"sk_live_"), rb"[A-Za-z0-9]{20,}"),
    "JSON web token": ((b"eyJ",), rb"[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}"),
    "private key": ((b"-----BEGIN ",), rb"(?:[A-Z]+ )*PRIVATE KEY-----"),
    "password in a URL": ((b"://",), rb"[^\s/:@\"'{}<>$]{1,64}:[^\s/:@\"'{}<>$]{8,128}@[A-Za-z0-9.-]+"),
}
_REST = {kind: re.compile(rest) for kind, (_, rest) in PATTERNS.items()}
_SCHEME = re.compile(rb"(?<![A-Za-z0-9])[a-z][a-z0-9+.-]{1,20}\Z")
_NAMED = [re.compile(re.escape(head) + rest) for heads, rest in PATTERNS.values() for head in heads]
_ESCAPE = re.compile(rb'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_PLAIN = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}


class Finding(NamedTuple):
    """One hit: the file and what kind of secret it looks like."""

    file: str
    kind: str


def encodings(value: str) -> set[bytes]:
    """Spellings under which a value may stand in a file: raw, UTF-16, URL, JSON, hex, base64 at three alignments."""
    raw = value.encode("utf-8", "replace")
    found = {raw, quote(value).encode(), quote(value, safe="").encode(), json.dumps(value)[1:-1].encode()}
    found |= {raw.hex().encode(), raw.hex().upper().encode()}
    found |= {value.encode(order, "replace") for order in ("utf-16-le", "utf-16-be")}
    for shift in range(3):
        spelled = base64.b64encode(b"\0" * shift + raw)
        # the first and last characters also hold bits of the neighbours, so only the middle is certain
        start = (0, 2, 3)[shift]
        whole = (shift + len(raw)) * 8 // 6
        middle = spelled[start:whole]
        found |= {middle, middle.replace(b"+", b"-").replace(b"/", b"_")}
    return {spelling for spelling in found if len(spelling) >= SHORTEST}


def decoded(content: bytes) -> bytes:
    """The content with JSON escapes taken away, twice where there are escapes within escapes."""
    for _ in range(2):
        if b"\\" not in content:
            break
        content = _ESCAPE.sub(_unescape, content)
    return content


def _unescape(found: re.Match[bytes]) -> bytes:
    if found[1]:
        return chr(int(found[1], 16)).encode("utf-8", "replace")
    return _PLAIN.get(found[2], found[2])


def scan_bytes(name: str, content: bytes, needles: Mapping[bytes, str]) -> set[Finding]:
    """Findings in one file's content; `needles`: spelling -> name of the secret."""
    found: set[Finding] = set()
    for view in views(content):
        texts = _texts(view)
        joined = texts[1].translate(None, _SPACE) if needles else b""  # base64 and hex are often wrapped
        for spelling, secret in needles.items():
            if any(spelling in text for text in (*texts, joined)):
                found.add(Finding(name, f"the value of {secret}"))
        found |= {Finding(name, kind) for kind in PATTERNS if any(_stands(kind, text) for text in texts)}
    return found


def _stands(kind: str, text: bytes) -> bool:
    """Whether a token of this kind stands in the text, not within a longer word."""
    for head in PATTERNS[kind][0]:
        at = text.find(head)
        while at >= 0:
            begins = (
                _SCHEME.search(text[max(0, at - 22) : at])
                if head == b"://"
                else not text[max(0, at - 1) : at].isalnum()
            )
            if begins and _REST[kind].match(text, at + len(head)):
                return True
            at = text.find(head, at + 1)
    return False


def _texts(view: bytes) -> tuple[bytes, ...]:
    """A view as it is, without JSON escapes and, where it looks like UTF-16, without the zero bytes."""
    texts = (view, decoded(view))
    return (*texts, view.replace(b"\0", b"")) if view.count(b"\0") * 3 >= len(view) > 0 else texts


def shown(name: str, needles: Mapping[bytes, str]) -> str:
    """A file's name without the secrets that stand in it."""
    content = name.encode("utf-8", "surrogateescape")
    for spelling in needles:
        content = content.replace(spelling, MARK)
    for pattern in _NAMED:
        content = pattern.sub(MARK, content)
    return content.decode("utf-8", "replace")


def scan(
    files: Iterable[tuple[str, Path]], secrets: Mapping[str, str], made: Mapping[str, bytes] | None = None
) -> list[Finding]:
    """Findings over files given as (name to show, path), sorted; `secrets`: name -> value handed to attempts.

    `made`: name -> content of what is no file yet and goes out with them.
    """
    needles = {
        spelling: name for name, value in secrets.items() if len(value) >= SHORTEST for spelling in encodings(value)
    }
    found: set[Finding] = set()
    for name, content in (made or {}).items():
        found |= scan_bytes(name, content, needles)
    for name, path in files:
        told = shown(name, needles)
        found |= scan_bytes(told, path.read_bytes(), needles)
        found |= scan_bytes(told, name.encode("utf-8", "surrogateescape"), needles)
    return sorted(found)
