"""The middleware before every request: only who was given the address that ``katachi serve`` printed gets in.

Any page in a browser can send requests to 127.0.0.1, and a name that its owner points there makes it read the
answers. So a request must name this server as its Host (else 400), come from this server's own pages if it says where
it comes from (else 403, for websockets too), and bring the start-up token: once in the address, from then on in a
cookie (else 403). What it sends is bounded (else 413). Cookies know no ports, so the token's carries the port in its
name.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from katachi.web import texts

MAX_BODY: Final = 17 << 20  # bytes: the largest record that is read, and what is around it
TOKEN_KEY: Final = "token"
USER_COOKIE: Final = "katachi-visitor"
_USER: Final = re.compile(r"[0-9a-f]{32}")
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")

# NiceGUI compiles its templates in the browser and starts by an inline script; all else must come from here.
_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens, and by which names it may be called."""

    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether only programs of this machine reach it."""
        return self.host in _LOOPBACK

    def answers_to(self, header: str) -> bool:
        """Whether a Host names this server: by a numerical address, or a name that only its owner can give it."""
        name, port = _split_host(header)
        if port != self.port:
            return False
        if name in _LOOPBACK or name == self.host:
            return True
        own = socket.gethostname().lower()
        return not self.is_local and (_is_numerical(name) or name in (own, f"{own}.local"))

    def url(self, path: str = "/", **query: str) -> str:
        """The address of a page, as a person on this machine opens it."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}{path}" + (f"?{urlencode(query)}" if query else "")


def _split_host(header: str) -> tuple[str, int]:
    """The name and the port of a Host header; the port is −1 if it is none."""
    found = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?", header)
    if not found:
        return "", -1
    return found[1].strip("[]").lower(), int(found[2] or 80)


def _is_numerical(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class AuthMiddleware:
    """Lets an application see the requests that may be served, and answers the others why not."""

    def __init__(self, app: ASGIApp, address: Address, token: str) -> None:
        self.app = app
        self._address = address
        self._token = token
        self._cookie = f"katachi-token-{address.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, as ASGI has it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if (refusal := self._find_refusal(headers)) is not None:
            await _refuse(scope, send, *refusal)
        elif scope["type"] == "http" and self._matches(dict(_query(scope)).get(TOKEN_KEY, "")):
            await self._admit(scope, headers, send)
        elif not self._matches(_cookies(headers).get(self._cookie, "")):
            await _refuse(scope, send, 403, texts.NO_TOKEN)
        elif scope["type"] == "websocket":
            await self.app(scope, receive, send)
        elif read_user(_cookies(headers)) is None:
            await self._admit(scope, headers, send)
        else:
            await _Exchange(self.app, receive, send).run(scope, headers)

    def _find_refusal(self, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self._address.answers_to(host):
            return 400, texts.WRONG_HOST
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return 403, texts.WRONG_ORIGIN
        return None

    def _matches(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self._token.encode())

    async def _admit(self, scope: Scope, headers: dict[str, str], send: Send) -> None:
        """Keep the token in a cookie and go on to the page itself, so that the token leaves the address bar."""
        query = [(key, value) for key, value in _query(scope) if key != TOKEN_KEY]
        path = quote("/" + scope["path"].lstrip("/"))  # two slashes at the beginning would name another server
        target = path + (f"?{urlencode(query)}" if query else "")
        user = read_user(_cookies(headers)) or secrets.token_hex(16)
        cookies = [
            _format_cookie(self._cookie, self._token, 30 * 86_400),
            _format_cookie(USER_COOKIE, user, 365 * 86_400),
        ]
        await _answer(send, 303, "", [("location", target), *(("set-cookie", cookie) for cookie in cookies)])


class _Exchange:
    """One request and its response: what comes in is counted, what goes out gets our headers."""

    def __init__(self, app: ASGIApp, receive: Receive, send: Send) -> None:
        self._app = app
        self._receive = receive
        self._send = send
        self._received = 0
        self._started = False
        self._is_cut = False

    async def run(self, scope: Scope, headers: dict[str, str]) -> None:
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MAX_BODY:
            await _answer(self._send, 413, texts.TOO_LARGE)
            return
        try:
            await self._app(scope, self._receive_counted, self._send_with_headers)
        except Exception:
            if not self._is_cut:  # an application that loses its request in the middle may well complain
                raise

    async def _receive_counted(self) -> Message:
        message = await self._receive()
        self._received += len(message.get("body", b""))
        if self._received <= MAX_BODY:
            return message
        if not self._is_cut and not self._started:
            await _answer(self._send, 413, texts.TOO_LARGE)
        self._is_cut = True
        return {"type": "http.disconnect"}

    async def _send_with_headers(self, message: Message) -> None:
        if self._is_cut:
            return
        if message["type"] == "http.response.start":
            self._started = True
            message = {**message, "headers": [*message.get("headers", []), *_encode(_HEADERS.items())]}
        await self._send(message)


def read_user(cookies: dict[str, str]) -> str | None:
    """Who is there: a number that a browser was given with the token, None if it has none."""
    user = cookies.get(USER_COOKIE, "")
    return user if _USER.fullmatch(user) else None


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"))


def _cookies(headers: dict[str, str]) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def _format_cookie(name: str, value: str, seconds: int) -> str:
    return f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict"


def _encode(headers: Any) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


async def _refuse(scope: Scope, send: Send, status: int, sentence: str) -> None:
    if scope["type"] == "http":
        await _answer(send, status, sentence)
    elif "websocket.http.response" in scope.get("extensions", {}):
        await _answer(send, status, sentence, kind="websocket.http.response")
    else:
        await send({"type": "websocket.close", "code": 1008})


async def _answer(
    send: Send, status: int, text: str, headers: list[tuple[str, str]] | None = None, kind: str = "http.response"
) -> None:
    """Send a response of plain text."""
    content = text.encode()
    given = [("content-type", "text/plain; charset=utf-8"), ("content-length", str(len(content)))]
    fields = _encode([*given, *_HEADERS.items(), *(headers or [])])
    await send({"type": f"{kind}.start", "status": status, "headers": fields})
    await send({"type": f"{kind}.body", "body": content})
