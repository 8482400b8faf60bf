"""Strangers at the door: none of these attacks may pass.

Raw sockets here, so that nothing cleans the requests up on the way; the same attacks
from a real browser are in test_server_browser.py.
"""

import json
import pathlib
import socket as sockets
import time

import httpx
import pytest
from explorer_client import Client, send
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from pushforward.errors import InputError
from pushforward.web import _caps
from pushforward.web.server._serve import Server, names

UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


def raw(server, request: bytes, wait: float = 10.0, more: bool = True) -> bytes:
    """What comes back on a plain socket; without `more` nothing else will be sent."""
    with sockets.create_connection(("127.0.0.1", server.port), timeout=wait) as plain:
        plain.sendall(request)
        if not more:
            plain.shutdown(sockets.SHUT_WR)
        parts = []
        try:
            while data := plain.recv(65536):
                parts.append(data)
        except (TimeoutError, ConnectionResetError):
            pass
    return b"".join(parts)


def ask(server, path="/api/about", method="GET", drop=(), wait=10.0, **headers):
    """A request with chosen headers; `drop` leaves some out, lists repeat them."""
    given = {"Host": f"127.0.0.1:{server.port}", "Connection": "close", **headers}
    lines = [f"{method} {path} HTTP/1.1"]
    for name, value in given.items():
        name = name.replace("_", "-")
        if name not in drop:
            many = value if isinstance(value, list) else [value]
            lines += [f"{name}: {one}" for one in many]
    return raw(server, "\r\n".join([*lines, "", ""]).encode("latin-1"), wait)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def passed(answer: bytes) -> bool:
    return status(answer) in (101, 200, 206, 303)


ME = "http://127.0.0.1:{port}"
# name: (path, method, headers); every one carries the good cookie unless it says so
ATTACKS = {
    "no cookie": ("/api/about", "GET", {"Cookie": ""}),
    "wrong cookie": ("/api/about", "GET", {"Cookie": "{name}=" + "0" * 64}),
    "cookie of another port": (
        "/api/about",
        "GET",
        {"Cookie": "pushforward-1={value}"},
    ),
    "token as cookie": ("/api/about", "GET", {"Cookie": "{name}={token}"}),
    "wrong token": ("/?token=" + "a" * 43, "GET", {"Cookie": ""}),
    "empty token": ("/?token=", "GET", {"Cookie": ""}),
    "two tokens": ("/?token={token}&token=x", "GET", {"Cookie": ""}),
    "token on another path": ("/api/about?token={token}", "GET", {"Cookie": ""}),
    "token in the header": (
        "/api/about",
        "GET",
        {"Cookie": "", "Authorization": "Bearer {token}"},
    ),
    "rebound name": ("/api/about", "GET", {"Host": "evil.example:{port}"}),
    "rebound name with token": (
        "/?token={token}",
        "GET",
        {"Host": "evil.example:{port}"},
    ),
    "name without port": ("/api/about", "GET", {"Host": "127.0.0.1"}),
    "name with another port": ("/api/about", "GET", {"Host": "127.0.0.1:80"}),
    "name that begins like ours": (
        "/api/about",
        "GET",
        {"Host": "127.0.0.1.evil.example:{port}"},
    ),
    "name with a user": (
        "/api/about",
        "GET",
        {"Host": "127.0.0.1:{port}@evil.example"},
    ),
    "name in other letters": ("/api/about", "GET", {"Host": "LOCALHOST.:{port}"}),
    "any address": ("/api/about", "GET", {"Host": "0.0.0.0:{port}"}),
    "empty name": ("/api/about", "GET", {"Host": ""}),
    "two names": ("/api/about", "GET", {"Host": ["127.0.0.1:{port}", "evil.example"]}),
    "forwarded name": (
        "/api/about",
        "GET",
        {"Host": "evil.example", "X-Forwarded-Host": "127.0.0.1:{port}"},
    ),
    "absolute address": (
        "http://evil.example/api/about",
        "GET",
        {"Host": "evil.example"},
    ),
    "other origin": ("/api/about", "GET", {"Origin": "http://evil.example"}),
    "origin of another port": ("/api/about", "GET", {"Origin": "http://127.0.0.1:1"}),
    "null origin": ("/api/about", "GET", {"Origin": "null"}),
    "https origin": ("/api/about", "GET", {"Origin": "https://127.0.0.1:{port}"}),
    "origin with a tail": ("/api/about", "GET", {"Origin": ME + ".evil.example"}),
    "two origins": ("/api/about", "GET", {"Origin": [ME, "http://evil.example"]}),
    "origin and name differ": (
        "/api/about",
        "GET",
        {"Origin": "http://localhost:{port}"},
    ),
    "cross-site fetch": ("/api/about", "GET", {"Sec-Fetch-Site": "cross-site"}),
    "same-site fetch": ("/api/about", "GET", {"Sec-Fetch-Site": "same-site"}),
    "framed by a neighbor": (
        "/",
        "GET",
        {
            "Sec-Fetch-Site": "same-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "iframe",
        },
    ),
    "post without the header": ("/api/upload", "POST", {"Origin": ME}),
    "post from elsewhere": (
        "/api/upload",
        "POST",
        {"Origin": "http://evil.example", "X-Pushforward": "1"},
    ),
    "delete": ("/api/runs/" + "0" * 32, "DELETE", {"Origin": ME}),
    "options": (
        "/api/about",
        "OPTIONS",
        {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"},
    ),
    "path escape": ("/assets/../../_guard.py", "GET", {}),
    "path escape, encoded": ("/assets/%2e%2e/%2e%2e/_guard.py", "GET", {}),
    "path escape, twice": ("/assets/%252e%252e/_guard.py", "GET", {}),
    "path escape, backslash": ("/assets/..\\..\\_guard.py", "GET", {}),
    "path escape in a run": ("/api/runs/..%2f..%2ffiles/csv", "GET", {}),
    "run that is a path": ("/api/runs/%2fetc%2fpasswd", "GET", {}),
    "null byte": ("/api/runs/%00", "GET", {}),
    "socket without origin": ("/api/socket", "GET", UPGRADE),
    "socket from elsewhere": (
        "/api/socket",
        "GET",
        {**UPGRADE, "Origin": "http://evil.example"},
    ),
    "socket from another port": (
        "/api/socket",
        "GET",
        {**UPGRADE, "Origin": "http://127.0.0.1:1"},
    ),
    "socket from a file": ("/api/socket", "GET", {**UPGRADE, "Origin": "null"}),
    "socket, rebound": (
        "/api/socket",
        "GET",
        {
            **UPGRADE,
            "Host": "evil.example:{port}",
            "Origin": "http://evil.example:{port}",
        },
    ),
    "socket without cookie": (
        "/api/socket",
        "GET",
        {**UPGRADE, "Origin": ME, "Cookie": ""},
    ),
    "socket on another path": ("/api/runs/x", "GET", {**UPGRADE, "Origin": ME}),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_is_refused(server, client, name):
    path, method, headers = ATTACKS[name]
    cookie_name, value = client.cookie.split("=", 1)
    facts = {"port": server.port, "token": server.token}
    facts |= {"name": cookie_name, "value": value}

    def fill(text):
        return (
            [fill(t) for t in text] if isinstance(text, list) else text.format(**facts)
        )

    filled = {"Cookie": client.cookie} | {k: fill(v) for k, v in headers.items()}
    drop = [k for k, v in filled.items() if v == "" and k == "Cookie"]
    answer = ask(server, fill(path), method, drop=drop, **filled)
    assert status(answer) >= 400, answer[:300]
    assert b"set-cookie" not in answer.lower()
    assert b"access-control-allow" not in answer.lower()
    assert server.token.encode() not in answer and value.encode() not in answer


def test_at_least_25_attacks():
    assert len(ATTACKS) >= 25


def test_the_same_requests_pass_when_they_are_ours(server, client):
    """The attacks fail for the reason they name, not because everything fails."""
    mine = f"http://127.0.0.1:{server.port}"
    cookie = {"Cookie": client.cookie}
    assert status(ask(server, **cookie)) == 200
    assert status(ask(server, Origin=mine, **cookie)) == 200
    assert status(ask(server, Sec_Fetch_Site="same-origin", **cookie)) == 200
    local = {"Host": f"localhost:{server.port}"}
    assert (
        status(ask(server, Origin=f"http://localhost:{server.port}", **local, **cookie))
        == 200
    )
    assert status(ask(server, f"/?token={server.token}")) == 303
    walk = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert (
        status(
            ask(server, f"/?token={server.token}", Sec_Fetch_Dest="document", **walk)
        )
        == 303
    )
    opened = ask(server, "/api/socket", wait=1.0, Origin=mine, **UPGRADE, **cookie)
    assert status(opened) == 101


def test_the_token_is_traded_for_a_cookie_that_scripts_cannot_read(server):
    answer = ask(server, f"/?token={server.token}").lower()
    line = next(x for x in answer.split(b"\r\n") if x.startswith(b"set-cookie:"))
    assert b"httponly" in line and b"samesite=strict" in line and b"path=/" in line
    assert b"domain" not in line and server.token.lower().encode() not in line
    assert b"\r\nlocation: /\r\n" in answer
    assert len(server.token) >= 43, "256 bits in base64"


def test_every_answer_carries_the_headers(server, client):
    for path in (
        "/",
        "/api/about",
        "/nothing",
        f"/?token={server.token}",
        "/api/socket",
    ):
        for cookie in (client.cookie, "x=y"):
            answer = ask(server, path, Cookie=cookie).lower()
            head = answer.split(b"\r\n\r\n")[0].decode()
            assert "default-src 'self'" in head and "frame-ancestors 'none'" in head
            for line in (
                "x-content-type-options: nosniff",
                "x-frame-options: deny",
                "referrer-policy: no-referrer",
                "cross-origin-resource-policy: same-origin",
                "cache-control: no-store",
            ):
                assert line in head, (path, line)
            assert "unsafe-inline" not in head and "access-control" not in head
            assert "\r\nserver:" not in head


def test_only_this_machine_is_listened_to_unless_asked(server):
    assert server.bound.getsockname()[0] == "127.0.0.1"
    assert names("127.0.0.1", 5) == ["127.0.0.1:5", "localhost:5"]
    assert names("192.168.1.7", 5) == ["192.168.1.7:5"]
    with pytest.raises(InputError, match="port"):
        Server(port=server.port, warm=False)


def test_large_messages_end_the_socket(client):
    with client.socket() as socket:
        try:
            socket.send("x" * (_caps.MESSAGE_BYTES + 1))
            with pytest.raises(ConnectionClosed):
                while True:
                    socket.recv(timeout=10)
        except ConnectionClosed:
            pass
    assert client.http.get("/api/about").status_code == 200


def test_a_hundred_megabytes_are_refused_before_they_are_read(server, client):
    head = {"Cookie": client.cookie, "Origin": client.origin, "X_Pushforward": "1"}
    start = time.monotonic()
    answer = ask(server, "/api/upload", "POST", Content_Length="100000000", **head)
    assert status(answer) == 413 and time.monotonic() - start < 5
    chunked = ask(server, "/api/upload", "POST", Transfer_Encoding="chunked", **head)
    assert status(chunked) >= 400


def test_large_headers_and_broken_requests(server):
    assert not passed(ask(server, "/" + "a" * 100_000))
    assert not passed(ask(server, X_Long="a" * 100_000))
    for junk in (
        b"\x16\x03\x01\x02\x00",
        b"GET\r\n\r\n",
        b"\x00" * 1000,
        b"PRI * HTTP/2.0\r\n\r\n",
    ):
        assert not passed(raw(server, junk, wait=3.0, more=False))


def test_sockets_are_counted(server, client, monkeypatch):
    monkeypatch.setattr(_caps, "SOCKETS", server.explorer.sockets + 2)
    with client.socket(), client.socket(), pytest.raises(InvalidStatus):
        with client.socket():
            pass
    deadline = time.monotonic() + 10
    while server.explorer.sockets and time.monotonic() < deadline:
        time.sleep(0.05)
    assert server.explorer.sockets == 0, "closed sockets are counted off"


def test_a_flood_of_messages_ends_the_socket_and_not_the_server(client):
    with client.socket() as socket, pytest.raises(ConnectionClosed):
        for k in range(20_000):
            send(socket, type="ack", id=1, frame=k)
        for _ in range(1000):
            socket.recv(timeout=10)
    assert client.http.get("/api/about").status_code == 200


def test_a_flood_of_runs_is_answered_with_a_refusal(client):
    with client.socket(close_timeout=1) as socket:
        for k in range(60):
            send(socket, type="run", id=k, state={"n": 12, "t1": 1.0 + k, "frames": 2})
        refused = 0
        while refused == 0:
            message = socket.recv(timeout=60)
            if isinstance(message, str):
                found = json.loads(message)
                refused += found["type"] == "error" and "too many" in found["message"]
    assert refused


def test_a_billion_tokens_are_clamped_fast(client):
    with client.socket() as socket:
        start = time.monotonic()
        state = {"n": 10**9, "d": 10**9, "frames": 10**9, "t1": 1e999}
        send(socket, type="run", id=1, state=state)
        found = json.loads(socket.recv(timeout=10))
        assert time.monotonic() - start < 5
        assert {note["key"] for note in found["clamped"]} >= {"n", "d", "frames"}
        send(socket, type="stop", id=1)


def test_guessing_tokens_is_slowed_down(server):
    codes = [status(ask(server, f"/?token={k:043d}")) for k in range(25)]
    assert set(codes) <= {403, 429} and 429 in codes
    time.sleep(1.2)
    assert status(ask(server, f"/?token={server.token}")) == 303, "and then it is over"


def test_no_second_session_gets_the_first_ones_cookie(server, client, tmp_path):
    other = Client(server)
    assert other.cookie == client.cookie  # one server, one owner, one session
    other.http.close()
    from pushforward.web.server._guard import Guard

    async def nobody(scope, receive, send):
        raise AssertionError("not asked")

    guards = [Guard(nobody, ["a:1"], 1, "t") for _ in range(2)]
    assert guards[0].session != guards[1].session and len(guards[0].session) == 64


def test_uploads_cannot_name_paths(server, client):
    root = server.explorer.files.root.parent
    house = root.parent.parent  # of this server alone; its root lies two folders deeper
    x = b"1,0,0\n0,1,0\n"
    for name in ("../../evil.csv", "/etc/evil.csv", "a\\..\\evil.csv", "nul\x00l.csv"):
        answer = client.http.post(
            "/api/upload", files={"file": (name, x)}, headers={"X-Pushforward": "1"}
        )
        if answer.status_code == 200:
            assert (
                "/" not in answer.json()["name"] and "\\" not in answer.json()["name"]
            )
    made = {p.name for p in root.iterdir()} - {
        "presets.json"
    }  # once they are asked for
    assert made == {"files", "runs", "phase"}
    assert (house / "house" / "cache" / "files").is_dir()
    assert not list(house.rglob("*evil*"))
    here = pathlib.Path.cwd()
    outside = [pathlib.Path("/etc"), here, *here.parents, house.parent]
    assert not [p for folder in outside for p in folder.glob("evil.csv*")]


def test_a_cookie_header_that_cannot_be_read_is_no_cookie(server):
    for cookie in ("=;=;;=", "\xff\xfe", "a" * 8000, 'x="', "pushforward-1"):
        assert status(ask(server, Cookie=cookie)) == 401


def test_http_client_without_any_header_is_refused(server):
    assert httpx.get(f"http://127.0.0.1:{server.port}/api/about").status_code == 401
    with pytest.raises(InvalidStatus):
        with connect(f"ws://127.0.0.1:{server.port}/api/socket", proxy=None):
            pass
