"""The meter's way out: a request goes to the provider as it came, and its answer back as it comes."""

from __future__ import annotations

import asyncio
import ssl
import urllib.request
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fairtrial.instruments.endpoint.service import Cut

if TYPE_CHECKING:
    import aiohttp
    from aiohttp import web

    from fairtrial.instruments.endpoint.service import Call, Service
    from fairtrial.instruments.endpoint.wires import Route

_CONNECT, _SILENCE = 30.0, 900.0  # seconds; a model may think long before it says a word
_HOP = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade", "host", "content-length", "accept-encoding",
})  # fmt: skip


class Forwarder:
    """Forwards to `base_url`, else to the provider that made the protocol. Keys pass through and are kept nowhere."""

    def __init__(self, base_url: str | None) -> None:
        self._base = None if base_url is None else base_url.rstrip("/").removesuffix("/v1").rstrip("/")
        self._tls = ssl.create_default_context()  # before the clock runs: reading the authorities takes a while
        self._session: aiohttp.ClientSession | None = None

    def _client(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT, sock_read=_SILENCE)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=self._tls), timeout=timeout, auto_decompress=False,
                skip_auto_headers=("User-Agent", "Accept", "Content-Type"),
            )  # fmt: skip
        return self._session

    async def close(self) -> None:
        """Close the connections to the provider."""
        if self._session is not None:
            await self._session.close()

    async def forward(self, service: Service, call: Call, to: Route) -> web.StreamResponse:
        """Ask the provider and pass its answer on; a provider that cannot be reached is answered with 502."""
        import aiohttp

        url = (self._base or to.wire.HOST) + call.request.raw_path
        headers = [(k, v) for k, v in call.request.headers.items() if k.lower() not in _HOP | {"content-encoding"}]
        headers.append(("Accept-Encoding", "identity"))
        body = call.body if call.request.body_exists else None
        try:
            answer = await self._client().request(
                call.request.method, _url(url), headers=headers, data=body, allow_redirects=False, proxy=_proxy(url)
            )
        except (aiohttp.ClientError, TimeoutError) as problem:
            call.row["fault"] = "upstream"
            message = f"fairtrial: bad gateway: the provider cannot be reached: {type(problem).__name__}"
            return await service.whole(call, 502, to.wire.refusal(502, message))
        async with answer:
            if answer.status >= 400:
                call.row["fault"] = f"upstream {answer.status}"
            kept = [(k, v) for k, v in answer.headers.items() if k.lower() not in _HOP - {"content-length"}]
            return await service.send(call, answer.status, _multi(kept), _pieces(call, answer))


def _url(url: str) -> Any:
    from yarl import URL

    return URL(url, encoded=True)


def _multi(pairs: list[tuple[str, str]]) -> Any:
    from multidict import CIMultiDict

    return CIMultiDict(pairs)


def _proxy(url: str) -> str | None:
    """The proxy that the runner's environment names for `url`."""
    parts = urlsplit(url)
    if parts.hostname in ("localhost", "127.0.0.1", "::1"):
        return None
    if urllib.request.proxy_bypass(parts.hostname or ""):
        return None
    return urllib.request.getproxies().get(parts.scheme)


async def _pieces(call: Call, answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    import aiohttp

    try:
        async for piece in answer.content.iter_any():
            yield piece
    except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError):
        call.row["fault"] = "upstream cut"
        raise Cut from None
