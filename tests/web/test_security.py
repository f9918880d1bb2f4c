"""The middleware: what is let through, what is sent away, and how much may be sent."""

from __future__ import annotations

import asyncio
import secrets

import httpx
import pytest

from katachi.web.security import MAX_BODY, Address, AuthMiddleware

TOKEN = "a" * 43
PORT = 8361
HERE = f"http://127.0.0.1:{PORT}"


async def echo(scope, receive, send):
    """An application that reads everything and says how much it was."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RuntimeError("the request was cut off")
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": str(size).encode()})


def ask(path="/", *, method="GET", cookies=None, host="127.0.0.1", address=None, **options):
    middleware = AuthMiddleware(echo, address or Address("127.0.0.1", PORT), TOKEN)

    async def run():
        transport = httpx.ASGITransport(app=middleware)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}:{PORT}", cookies=cookies) as client:
            return await client.request(method, path, **options)

    return asyncio.run(run())


def admitted():
    """The cookies that the token buys."""
    return dict(ask(f"/?token={TOKEN}").cookies)


def test_the_token_buys_cookies_and_leaves_the_address():
    answer = ask(f"/game/abc?token={TOKEN}&size=9")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/game/abc?size=9"
    for cookie in answer.headers.get_list("set-cookie"):
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
    assert set(answer.cookies) == {f"katachi-token-{PORT}", "katachi-visitor"}


def test_with_the_cookies_everything_is_served_under_strict_headers():
    answer = ask(cookies=admitted())
    assert (answer.status_code, answer.text) == (200, "0")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("token", ["", "?token=", "?token=wrong", f"?token={TOKEN[:-1]}", f"?token={TOKEN}a"])
def test_without_the_token_nothing_is_served(token):
    answer = ask(f"/{token}")
    assert answer.status_code == 403
    assert not answer.cookies
    assert "katachi serve" in answer.text


def test_the_token_of_another_server_is_none_here():
    assert ask(cookies={f"katachi-token-{PORT}": "b" * 43, "katachi-visitor": "0" * 32}).status_code == 403


def test_who_has_no_number_gets_one_first():
    answer = ask("/game/x", cookies={f"katachi-token-{PORT}": TOKEN})
    assert (answer.status_code, answer.headers["location"]) == (303, "/game/x")
    forged = ask("/", cookies={f"katachi-token-{PORT}": TOKEN, "katachi-visitor": "../../etc"})
    assert len(forged.cookies["katachi-visitor"]) == 32


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:80", "127.0.0.1", "", f"a@127.0.0.1:{PORT}", "[::1"]
)
def test_another_host_is_refused(host):
    answer = ask(f"/?token={TOKEN}", headers={"host": host})
    assert answer.status_code == 400
    assert not answer.cookies


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_this_machine_has_three_names(host):
    assert ask(f"/?token={TOKEN}", headers={"host": f"{host}:{PORT}"}).status_code == 303


@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"http://localhost:{PORT}", "http://127.0.0.1"])
def test_another_origin_is_refused(origin):
    answer = ask("/", method="POST", cookies=admitted(), headers={"origin": origin})
    assert answer.status_code == 403


def test_our_own_pages_may_post():
    assert ask("/", method="POST", cookies=admitted(), headers={"origin": HERE}, content=b"12345").text == "5"


@pytest.mark.parametrize(
    ("method", "site", "status"),
    [("POST", "cross-site", 403), ("POST", "same-site", 403), ("POST", "same-origin", 200), ("GET", "cross-site", 200)],
)
def test_what_changes_something_comes_from_our_own_pages(method, site, status):
    answer = ask("/", method=method, cookies=admitted(), headers={"sec-fetch-site": site})
    assert answer.status_code == status


def test_a_redirect_never_leaves_this_server():
    assert ask(f"{HERE}//evil.example/?token={TOKEN}").headers["location"] == "/evil.example/"


@pytest.mark.parametrize("is_streamed", [False, True])
def test_what_is_sent_is_bounded(is_streamed):
    async def chunks():
        for _ in range(MAX_BODY // (1 << 20) + 2):
            yield bytes(1 << 20)

    content = chunks() if is_streamed else bytes(MAX_BODY + 1)
    answer = ask("/", method="POST", cookies=admitted(), content=content)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, None),
        ({"origin": "https://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"host": "evil.example"}, 400),
        ({"cookie": ""}, 403),
    ],
)
def test_a_websocket_is_held_to_the_same(headers, status):
    cookies = "; ".join(f"{name}={value}" for name, value in admitted().items())
    fields = {"host": f"127.0.0.1:{PORT}", "origin": HERE, "cookie": cookies} | headers
    scope = {
        "type": "websocket",
        "path": "/",
        "query_string": f"token={TOKEN}".encode(),  # not enough by itself
        "headers": [(name.encode(), value.encode()) for name, value in fields.items()],
        "extensions": {"websocket.http.response": {}},
    }
    sent, reached = [], []

    async def app(scope, receive, send):
        reached.append(scope)

    async def send(message):
        sent.append(message)

    asyncio.run(AuthMiddleware(app, Address("127.0.0.1", PORT), TOKEN)(scope, None, send))
    assert bool(reached) == (status is None)
    assert [message.get("status") for message in sent[:1]] == ([] if status is None else [status])


def test_an_open_server_answers_to_numbers_and_its_own_name_only():
    address = Address("0.0.0.0", PORT)
    assert not address.is_local
    assert address.answers_to(f"192.168.1.7:{PORT}")
    assert not address.answers_to(f"evil.example:{PORT}")
    assert address.url("/x", token="t") == f"http://127.0.0.1:{PORT}/x?token=t"
    assert not Address("127.0.0.1", PORT).answers_to(f"192.168.1.7:{PORT}")


@pytest.mark.parametrize("token", [TOKEN, TOKEN[:-1], "b" * 43, ""])
@pytest.mark.parametrize("is_cookie", [False, True])
def test_tokens_are_compared_in_constant_time(monkeypatch, token, is_cookie):
    compared = []

    def compare(given, wanted):
        compared.append((given, wanted))
        return False

    monkeypatch.setattr(secrets, "compare_digest", compare)
    cookies = {f"katachi-token-{PORT}": token} if is_cookie else None
    assert ask("/" if is_cookie else f"/?token={token}", cookies=cookies).status_code == 403, "nothing else decides"
    assert (token.encode(), TOKEN.encode()) in compared
