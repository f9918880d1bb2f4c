"""What stands before every request: only who was given the address that ``katachi serve`` printed gets in.

Any page in a browser can send requests to 127.0.0.1, and a name that its owner points there makes it read the
answers. So a request must name this server as its Host (else 400), come from this server's own pages if it says where
it comes from (else 403, for websockets too), and bring the start-up token: once in the address, from then on in a
cookie (else 403). What it sends is bounded (else 413). Cookies know no ports, so the token's carries the port in its
name. Connections are bounded before that, in number and in the time that they may say nothing, and so is the log.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import secrets
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import Final
from urllib.parse import quote, urlencode

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from katachi.web import texts

MAX_BODY: Final = 17 << 20  # bytes: the largest record that is read, and what is around it
TOKEN_KEY: Final = "token"
USER_COOKIE: Final = "katachi-visitor"
_USER: Final = re.compile(r"[0-9a-f]{32}")
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")

# NiceGUI compiles its templates in the browser and starts by an inline script; all else must come from here. The
# referrer is sent to ourselves alone: without it, a browser would not say that a form of ours is from here.
_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
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
        asked = HTTPConnection(scope)
        is_changing = scope.get("method") not in ("GET", "HEAD")  # as a websocket may
        if (refusal := self._find_refusal(asked.headers, is_changing=is_changing)) is not None:
            await _refuse(scope, receive, send, *refusal)
        elif scope["type"] == "http" and self._matches(asked.query_params.get(TOKEN_KEY, "")):
            await self._admit(asked)(scope, receive, send)
        elif not self._matches(asked.cookies.get(self._cookie, "")):
            await _refuse(scope, receive, send, 403, texts.NO_TOKEN)
        elif scope["type"] == "websocket":
            await self.app(scope, receive, send)
        elif read_user(asked.cookies) is None:
            await self._admit(asked)(scope, receive, send)
        else:
            await _Exchange(self.app, scope, receive, send).run(asked.headers.get("content-length", "0"))

    def _find_refusal(self, headers: Mapping[str, str], *, is_changing: bool) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self._address.answers_to(host):
            return 400, texts.WRONG_HOST
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return 403, texts.WRONG_ORIGIN
        if is_changing and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, texts.WRONG_ORIGIN
        return None

    def _matches(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self._token.encode())

    def _admit(self, asked: HTTPConnection) -> Response:
        """Keep the token in a cookie and go on to the page itself, so that the token leaves the address bar."""
        query = [(key, value) for key, value in asked.query_params.multi_items() if key != TOKEN_KEY]
        path = quote("/" + asked.scope["path"].lstrip("/"))  # two slashes at the beginning would name another server
        target = path + (f"?{urlencode(query)}" if query else "")
        response = Response(status_code=303, headers={**_HEADERS, "location": target})
        user = read_user(asked.cookies) or secrets.token_hex(16)
        for name, value, days in ((self._cookie, self._token, 30), (USER_COOKIE, user, 365)):
            cookie = f"{name}={value}; Path=/; Max-Age={days * 86_400}; HttpOnly; SameSite=Strict"
            response.headers.append("set-cookie", cookie)
        return response


class _Exchange:
    """One request and its response: what comes in is counted, what goes out gets our headers."""

    def __init__(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        self._app, self._scope, self._receive, self._send = app, scope, receive, send
        self._received = 0
        self._started = False
        self._is_cut = False

    async def run(self, length: str) -> None:
        if not length.isdigit() or int(length) > MAX_BODY:
            await _refuse(self._scope, self._receive, self._send, 413, texts.TOO_LARGE)
            return
        try:
            await self._app(self._scope, self._receive_counted, self._send_with_headers)
        except Exception:
            if not self._is_cut:  # an application that loses its request in the middle may well complain
                raise

    async def _receive_counted(self) -> Message:
        message = await self._receive()
        self._received += len(message.get("body", b""))
        if self._received <= MAX_BODY:
            return message
        if not self._is_cut and not self._started:
            await _refuse(self._scope, self._receive, self._send, 413, texts.TOO_LARGE)
        self._is_cut = True
        return {"type": "http.disconnect"}

    async def _send_with_headers(self, message: Message) -> None:
        if self._is_cut:
            return
        if message["type"] == "http.response.start":
            self._started = True
            theirs = message.get("headers", [])
            said = {name.lower() for name, _ in theirs}  # a page of ours may have a policy of its own
            ours = [(name.encode(), value.encode()) for name, value in _HEADERS.items() if name.encode() not in said]
            message = {**message, "headers": [*theirs, *ours]}
        await self._send(message)


def read_user(cookies: Mapping[str, str]) -> str | None:
    """Who is there: a number that a browser was given with the token, None if it has none."""
    user = cookies.get(USER_COOKIE, "")
    return user if _USER.fullmatch(user) else None


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, sentence: str) -> None:
    if scope["type"] == "http" or "websocket.http.response" in scope.get("extensions", {}):
        await PlainTextResponse(sentence, status, _HEADERS)(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": 1008})


# Connections: who opens many and says nothing must not keep others out.

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections may be open, and how long one may take to say what it wants.

    Together with what has just been accepted they stay below the 1,024 files that a process usually may have open.
    """

    head_seconds: float = 15.0
    in_all: int = 512
    per_address: int = 256
    backlog: int = 128  # accepted at a time


class BoundedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that is closed if it brings no whole request head in time, or earlier, if others need its place.

    Whoever has a request answered, or a websocket, keeps its place; without the token nobody has either for long.
    """

    limits = ConnectionLimits()
    _deadline: asyncio.TimerHandle | None = None

    @classmethod
    def under(cls, limits: ConnectionLimits) -> type[BoundedProtocol]:
        """The same under other limits."""
        return type(cls.__name__, (cls,), {"limits": limits})

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._wait()
        here = [one for one in self.connections if one.client and self.client and one.client[0] == self.client[0]]
        for connections, most in ((here, self.limits.per_address), (self.connections, self.limits.in_all)):
            if len(connections) > most:
                waiting = [one for one in connections if isinstance(one, BoundedProtocol) and one.is_waiting]
                min(waiting, key=lambda one: one.waits_until, default=self)._end("there are too many")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    @property
    def is_waiting(self) -> bool:
        """Whether it has not yet said what it wants."""
        is_ours = self.transport.get_protocol() is self and not self.transport.is_closing()
        return is_ours and (self.cycle is None or self.cycle.response_complete)

    @property
    def waits_until(self) -> float:
        return 0.0 if self._deadline is None else self._deadline.when()

    def _wait(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(self.limits.head_seconds, self._end_if_waiting)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()

    def _end_if_waiting(self) -> None:
        if self.is_waiting:
            self._end("it did not say what it wants")

    def _end(self, reason: str) -> None:
        self.transport.abort()
        self.connections.discard(self)
        _log.warning("a connection was closed: %s", reason)


# The log: what others send may fill neither screen nor disk, nor move the cursor of a terminal.

_LOGGERS: Final = (__name__, "asyncio", "engineio.server", "nicegui", "socketio.server", "uvicorn.error")
_LONGEST: Final = 300  # characters


class QuietLog(logging.Filter):
    """Makes one line of everything, a traceback too, and lets each place of the program say one a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, seconds: float = 60.0) -> None:
        super().__init__()
        self._clock = clock
        self._seconds = seconds
        self._said: dict[tuple[object, ...], float] = {}
        self._unsaid: dict[tuple[object, ...], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is said; those that were not are counted in the next one."""
        fault = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        key = (record.name, record.lineno, type(fault))
        now = self._clock()
        if now - self._said.get(key, -self._seconds) < self._seconds:
            self._unsaid[key] = self._unsaid.get(key, 0) + 1
            return False
        self._said[key] = now
        more = self._unsaid.pop(key, 0)
        text = record.getMessage() if fault is None else _describe_fault(record.getMessage(), fault)
        record.msg = show_plainly(text)[:_LONGEST] + (f" (and {more} more like this)" if more else "")
        record.args, record.exc_info, record.exc_text, record.stack_info = (), None, None, None
        return True

    def attach(self) -> None:
        """Filter all that a server may say."""
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(self)


def _describe_fault(text: str, fault: BaseException) -> str:
    """``What happened: KeyError: 'client_id' (nicegui.py:219)``."""
    frames = extract_tb(fault.__traceback__)
    place = "".join(f" ({Path(frame.filename).name}:{frame.lineno})" for frame in frames[-1:])
    first = (text.splitlines() or [""])[0]
    said = f"{type(fault).__name__}: {fault}"
    return (said if first == str(fault) else f"{first}: {said}") + place


def show_plainly(text: str) -> str:
    """A text from elsewhere in one line, with the codes of control characters in place of them."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
