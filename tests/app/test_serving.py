"""The web server: where it listens, and what it refuses."""

from __future__ import annotations

import socket
import stat
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from suffice.app import serving
from suffice.app.server import make_app
from suffice.app.serving import HOST, bind, open_browser, serve_in_thread
from suffice.app.state.sessions import Sessions


def test_the_server_listens_on_the_loopback_address_only():
    _, server = serve_in_thread(make_app(Sessions()), 0)
    assert server.address.startswith(f"http://{HOST}:{server.port}/?token=")
    assert server._server.effective_host == HOST == "127.0.0.1"
    with pytest.raises(ValueError, match="is taken"):
        bind(make_app(Sessions()), server.port)
    server.shutdown()


def test_a_page_is_served_until_the_server_is_shut_down():
    address, server = serve_in_thread(make_app(Sessions()), 0)
    assert b"suffice" in build_opener(HTTPCookieProcessor()).open(address).read()
    server.shutdown()
    with pytest.raises(OSError, match=r"refused"):
        build_opener().open(address)


def test_a_stranger_cannot_send_a_large_body():
    """waitress stores a body on disk before the app is asked whether it wants it."""
    _, server = serve_in_thread(make_app(Sessions()), 0)
    for headers in ("Content-Length: 200000000", "Transfer-Encoding: chunked"):
        with socket.create_connection((HOST, server.port), timeout=60) as stranger:
            stranger.sendall(f"POST /_dash-update-component HTTP/1.1\r\nHost: {HOST}\r\n{headers}\r\n\r\n".encode())
            # The head and the body of the answer may arrive one after the other; the server closes the connection.
            answer = b"".join(iter(lambda: stranger.recv(1000), b""))
            assert answer.startswith(b"HTTP/1.1 400 ")
            assert b"needs the cookie" in answer
    server.shutdown()


def test_many_idle_connections_leave_others_served():
    """260 of them held the app for 84 s: at its limit, the server accepted no connection until one was over."""
    address, server = serve_in_thread(make_app(Sessions()), 0)
    visitor = build_opener(HTTPCookieProcessor())
    visitor.open(address).read()
    idle = [socket.create_connection((HOST, server.port), timeout=60) for _ in range(500)]
    for connection in idle[-100::2]:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127")  # and never the rest
    begin = time.monotonic()
    for _ in range(5):
        assert visitor.open(server.root, timeout=10).status == 200
    assert time.monotonic() - begin < 5
    for connection in idle:
        connection.close()
    server.shutdown()


def test_the_browser_is_called_without_the_token(monkeypatch):
    """Other users see the arguments of every process."""
    opened = []
    timer = type("Timer", (), {"__init__": lambda self, _, call, args: call(*args), "start": lambda self: None})
    monkeypatch.setattr(serving.threading, "Timer", timer)
    monkeypatch.setattr(serving.webbrowser, "open", opened.append)
    open_browser("http://127.0.0.1:8050/?token=secret")
    [address] = opened
    assert "secret" not in address
    page = Path(unquote(urlsplit(address).path))
    assert "url=http://127.0.0.1:8050/?token=secret" in page.read_text()
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
