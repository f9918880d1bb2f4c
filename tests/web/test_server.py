"""The server as an HTTP client sees it: who gets in, what is served, and to whom."""

from __future__ import annotations

import re
import socket
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from katachi.core.disk import DirectoryLock
from katachi.web.server import ServeError, ServerSettings, serve


@pytest.fixture
def client(server):
    """A browser that was given the address."""
    with httpx.Client(base_url=server.at(""), follow_redirects=True, timeout=60) as made:
        made.get(server.url)
        yield made


def new_game(client) -> str:
    answer = client.post("/new?player=alp&size=5")
    assert answer.status_code == 200
    return answer.url.path


def test_only_who_has_the_token_is_served(server, client):
    for path in ("/", "/models", "/_nicegui_ws/socket.io/?EIO=4&transport=polling", "/_nicegui/3/static/x.js"):
        assert httpx.get(server.at(path)).status_code == 403
    assert client.get("/").status_code == 200


def test_a_foreign_host_is_400_and_a_foreign_origin_403(server, client):
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400
    assert client.post("/", headers={"origin": "http://evil.example"}).status_code == 403


@pytest.mark.parametrize(
    ("change", "status"),
    [({}, 101), ({"Origin": "http://evil.example"}, 403), ({"Cookie": ""}, 403), ({"Host": "evil.example"}, 400)],
)
def test_a_websocket_too(server, client, change, status):
    here = f"127.0.0.1:{server.port}"
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    headers = {
        "Host": here,
        "Origin": f"http://{here}",
        "Cookie": cookies,
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    } | change
    lines = ["GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = connection.recv(100).decode()
    assert answer.startswith(f"HTTP/1.1 {status} ")


MALFORMED = [
    "x",
    "9",
    "4",
    "4x",
    "42",
    "42[",
    "42{}",
    '42["event"]',
    '42["event",1]',
    '42["event",{}]',
    '42["event",{"client_id":["a"]}]',
    '42["event",{"client_id":"CLIENT","id":4,"listener_id":"no"}]',
    '42["event",{"client_id":"CLIENT","id":[],"listener_id":"no"}]',
    '42["event",{"client_id":"CLIENT","id":4,"args":7}]',
    '42["handshake",{}]',
    '42["handshake",{"client_id":"CLIENT"}]',
    '42["ack",{"client_id":"CLIENT","next_message_id":"x"}]',
    '42["javascript_response",{"client_id":"CLIENT","request_id":[]}]',
    '42["log",{"client_id":"CLIENT","level":"error","message":"\\u001b[2J\\nfirst\\nsecond"}]',
    '42["log",{"client_id":"CLIENT","level":"none"}]',
    '451-["event",{"_placeholder":true,"num":0}]',
    '4999999999999-["event"]',
    b"\x00\xff",
    b"",
]


def test_malformed_events_are_a_line_in_the_log_and_do_no_harm(server, client):
    path = new_game(client)
    page = client.get(path).text
    identity = re.search(r"'client_id': '([0-9a-f-]+)'", page)[1]
    before = len(server.log.read_text())
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    query = f"EIO=4&transport=websocket&client_id={identity}&implicit_handshake=true&tab_id=t&document_id=d"
    for text in MALFORMED:
        with connect(
            f"ws://127.0.0.1:{server.port}/_nicegui_ws/socket.io/?{query}",
            origin=server.at(""),
            additional_headers={"Cookie": cookies},
        ) as socket_io:
            socket_io.recv()
            socket_io.send("40")
            socket_io.recv()
            socket_io.send(text if isinstance(text, bytes) else text.replace("CLIENT", identity))
            with suppress(ConnectionClosed, TimeoutError):
                socket_io.send('421["ack",{"client_id":"nobody"}]')  # is answered, after what came before it
                while not str(socket_io.recv(timeout=2)).startswith("431"):
                    pass
    assert client.get(f"{path}/record.sgf").text.startswith("(;FF[4]")
    said = server.log.read_text()[before:]
    assert "Traceback" not in said
    assert "\x1b" not in said
    assert len(said.splitlines()) <= len(MALFORMED)


def test_a_game_is_its_visitors_alone(server, client):
    path = new_game(client)
    assert client.get(f"{path}/record.sgf").text.startswith("(;FF[4]")
    with httpx.Client(base_url=server.at(""), follow_redirects=True, timeout=60) as stranger:
        stranger.get(server.url)
        assert stranger.get(f"{path}/record.sgf").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/game/..%2f..%2ftoken/record.sgf",
        "/game/%2e%2e/record.sgf",
        "/../../../../etc/passwd",
        "/runs/..",
        "/models/..",
    ],
)
def test_no_path_leads_out(server, client, path):
    answer = client.get(path)
    assert "root:" not in answer.text
    assert answer.status_code in (200, 404)
    assert "FF[4]" not in answer.text


def test_what_is_only_fetched_changes_nothing(server, client):
    game = new_game(client)
    paths = ["/", "/new?player=alp&size=5", game, f"{game}/record.sgf", f"{game}/analyzed.sgf"]
    paths += ["/models", "/models/shapes-5", "/runs", "/learn", "/no/such/page"]

    def kept() -> tuple[set[Path], dict[str, bytes]]:
        """The folders of all tables, and the files of this one: players of others may still be moving."""
        files = server.files()
        own = {path: content for path, content in files.items() if path.parent.name == game.rpartition("/")[2]}
        whole = {path.name: content for path, content in own.items() if path.name in ("record.sgf", "table.json")}
        return {path.parent for path in files}, whole

    until = time.monotonic() + 60
    while len(kept()[1]) < 2 and time.monotonic() < until:
        time.sleep(0.05)  # what begins a game answers before it is written
    before = kept()
    for path in paths:
        assert client.get(path).status_code == (404 if "such" in path else 200)
    assert kept() == before
    assert "<form" in client.get("/new?player=alp&size=5").text


def test_control_characters_are_not_repeated(server, client):
    answer = client.post("/new", params={"player": "\x1b[2Jnobody"})
    assert "\x1b" not in answer.text
    assert "nobody is not available here" in answer.text
    client.get("/no/%1b[2Jsuch/page")
    assert "\x1b" not in server.log.read_text()


@pytest.mark.parametrize("player", ["nobody", "gtp:touch canary", "/etc/passwd"])
def test_nobody_else_plays(client, player):
    answer = client.post("/new", params={"player": player})
    assert answer.status_code == 400
    assert "not available here" in answer.text


def test_an_upload_is_bounded(client):
    answer = client.post("/_nicegui/client/x/upload/1", content=bytes(18 << 20))
    assert answer.status_code == 413


def test_models_and_runs_have_pages(client):
    assert "shapes-5" in client.get("/models").text
    page = client.get("/models/shapes-5").text
    assert "LI 1×1" in page
    assert "There is no such model" in client.get("/models/nothing").text
    assert client.get("/runs").status_code == 200
    assert "There is no such run" in client.get("/runs/nothing").text


def test_a_server_that_cannot_start_is_a_sentence(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServeError, match=f"port {port}.*choose another with --port"):
            serve(ServerSettings(port=port, data=tmp_path), print)
    lock = DirectoryLock(tmp_path)
    with pytest.raises(ServeError, match=r"is served from .* already"):
        serve(ServerSettings(port=0, data=tmp_path), print)
    lock.release()
