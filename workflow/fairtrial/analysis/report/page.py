"""One self-contained HTML document: style and script inside, allowed by their hashes, nothing from anywhere else."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

from fairtrial.analysis.report.html import Safe, esc, join, tag

_HERE = Path(__file__).parent


@cache
def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8").strip() + "\n"


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def policy() -> str:
    """The content security policy: nothing is loaded, only these two texts act."""
    return (
        f"default-src 'none'; style-src {_hash(_asset('page.css'))}; script-src {_hash(_asset('page.js'))}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def document(title: str, header: Safe, main: Safe, footer: Safe) -> str:
    """The whole page; equal arguments give equal bytes."""
    head = join([
        Safe('<meta charset="utf-8">'),
        Safe(f'<meta http-equiv="Content-Security-Policy" content="{esc(policy())}">'),
        Safe('<meta name="viewport" content="width=device-width,initial-scale=1">'),
        Safe('<meta name="referrer" content="no-referrer">'),
        Safe('<link rel="icon" href="data:,">'),
        tag("title", title), Safe(f"<style>{_asset('page.css')}</style>"),
    ])  # fmt: skip
    script = Safe(f"<script>{_asset('page.js')}</script>")
    body = join([tag("header", header), tag("main", main), tag("footer", footer), script])
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>{body}</body>\n</html>\n'


def top(title: str, under: Safe) -> Safe:
    """The heading with the theme switch."""
    switch = tag("button", "Light / dark", id="theme", type="button", aria_pressed="false", aria_label="Dark theme")
    return join([tag("div", tag("h1", title), switch, class_="top"), under])


def card(name: str, title: object, body: object, wide: str = "") -> Safe:
    """One section of the page."""
    heading = tag("h2", title, id=f"h-{name}")
    return tag("section", heading, body, class_=f"card {wide}".strip(), id=name, aria_labelledby=f"h-{name}")
