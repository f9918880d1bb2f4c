"""Connections on a bad day: many that say nothing, and what the log says of them."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from starlette.responses import PlainTextResponse

from katachi.web.security import ConnectionLimits, QuietLog
from katachi.web.server import ServerSettings, _listen, make_server

HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
WHOLE = HALF + b"\r\n"
NEVER = 3600.0


async def hello(scope, receive, send) -> None:
    if scope["type"] == "http":
        await PlainTextResponse("hello")(scope, receive, send)


def run(limits: ConnectionLimits, scene: Callable) -> None:
    """Play a scene with a server that says hello to everybody."""

    async def play() -> None:
        listener = _listen(ServerSettings(port=0))
        server = make_server(hello, limits)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await asyncio.wait_for(scene(server, listener.getsockname()), 60)
        finally:
            server.should_exit = True
            await serving

    asyncio.run(play())


async def connect(stack: ExitStack, address, text: bytes) -> socket.socket:
    made = stack.enter_context(socket.socket())
    made.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(made, address)
    await loop.sock_sendall(made, text)
    return made


async def read(made: socket.socket) -> bytes:
    """What comes next; nothing if the connection was closed, orderly or not."""
    try:
        return await asyncio.get_running_loop().sock_recv(made, 10_000)
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize(
    "limits",
    [ConnectionLimits(NEVER, in_all=4), ConnectionLimits(NEVER, per_address=4), ConnectionLimits(0.05)],
    ids=["in all", "per address", "in time"],
)
def test_requests_that_are_never_finished_keep_nobody_out(limits):
    async def scene(server, address):
        with ExitStack() as stack:
            silent = [await connect(stack, address, HALF) for _ in range(8)]
            assert b"hello" in await read(await connect(stack, address, WHOLE))
            is_capped = limits.head_seconds == NEVER
            for made in silent[:5] if is_capped else silent:
                assert await read(made) == b"", "closed"
            if is_capped:
                assert len(server.server_state.connections) <= 4

    run(limits, scene)


def test_a_second_request_that_is_never_finished_is_ended_too():
    async def scene(_, address):
        with ExitStack() as stack:
            made = await connect(stack, address, WHOLE)
            assert b"hello" in await read(made)
            await asyncio.get_running_loop().sock_sendall(made, HALF)
            assert await read(made) == b""

    run(ConnectionLimits(0.05), scene)


def test_small_responses_do_not_wait_for_acknowledgements():
    async def scene(server, address):
        with ExitStack() as stack:
            made = await connect(stack, address, WHOLE)
            assert b"hello" in await read(made)
            (connection,) = server.server_state.connections
            accepted = connection.transport.get_extra_info("socket")
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    run(ConnectionLimits(), scene)


def test_the_log_is_one_plain_line_a_minute(caplog):
    now = [0.0]
    log = logging.getLogger("katachi.test")
    log.addFilter(quiet := QuietLog(lambda: now[0]))

    def fail(number: int) -> None:
        try:
            raise ValueError(f"\x1b[2J{number}")
        except ValueError:
            log.exception("an event\nfailed")

    for number in range(3):
        fail(number)
    now[0] = 61.0
    fail(3)
    log.warning("another place: %s", "a\nb")
    log.removeFilter(quiet)
    first, second, other = [record.getMessage() for record in caplog.records]
    assert caplog.text.count("Traceback") == 0
    assert first.startswith("an event: ValueError: \\x1b[2J0")
    assert "\x1b" not in first
    assert "test_connections.py" in first
    assert second.endswith("(and 2 more like this)")
    assert other == "another place: a\\nb"
