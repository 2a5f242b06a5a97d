"""The web server, and who may use it: pages of the app that know its token, by a name that it was started with.

Waitress listens on the loopback address only. The token is in the address that the app opens; the first visit exchanges
it for a cookie, and without either of them every request is refused, including scripts and callbacks. This keeps out
other users of the computer and pages of other sites.
"""

from __future__ import annotations

import atexit
import hmac
import logging
import os
import secrets
import shutil
import socket
import tempfile
import threading
import traceback
import webbrowser
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from dash.exceptions import DashException
from flask import Flask, Response, abort, redirect, request
from waitress import create_server, wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError

from suffice._text import printable

if TYPE_CHECKING:
    from dash import Dash

HOST = "127.0.0.1"
PORT = 8050
N_THREADS = 8  # requests that are answered at the same time
N_CONNECTIONS = 200  # with more, the one that was idle longest is closed
_MORE_CONNECTIONS = 20  # that are accepted if none is idle; further ones wait
IDLE_SECONDS = 60  # after which a connection without a request is closed
_SMALL = 2**16  # bytes that a client without the cookie may send; waitress stores a body before the app sees it
TOKEN_VARIABLE = "SUFFICE_APP_TOKEN"
LOCAL_NAMES = ("127.0.0.1", "localhost", "::1")
_MIN_TOKEN = 16  # characters of a token that the user chooses
_COOKIE = "suffice"
# What a request raises that does not fit the page: callbacks take what they are sent for what the page holds.
_OF_JUNK = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, DashException)
_PACKAGE = Path(__file__).parents[1]
_REFUSAL = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>suffice</title></head>
<body style="font-family: sans-serif; margin: 3em"><h1>This page needs its token</h1>
<p>Open the address that the app printed when it was started: it ends with <code>?token=...</code></p></body></html>"""


# --- access -----------------------------------------------------------------------------------------------------------


def new_token() -> str:
    """Return the token of a new app."""
    chosen = os.environ.get(TOKEN_VARIABLE, "")
    if chosen and (len(chosen) < _MIN_TOKEN or not chosen.isascii() or not chosen.isprintable()):
        raise ValueError(
            f"{TOKEN_VARIABLE} must have at least {_MIN_TOKEN} ASCII characters: {secrets.token_urlsafe()}"
        )
    return chosen or secrets.token_urlsafe(24)


def is_known(cookies: str, token: str) -> bool:
    """Check whether a request has the cookie of a token."""
    pairs = [part.strip().partition("=") for part in cookies.split(";")]
    return any(_is_same(value, _cookie_of(token)) for name, _, value in pairs if name.startswith(_COOKIE))


def _cookie_of(token: str) -> str:
    return hmac.new(token.encode(), b"cookie", "sha256").hexdigest()


def _is_same(text: str, expected: str) -> bool:
    return hmac.compare_digest(text.encode(errors="replace"), expected.encode())


def protect(server: Flask, token: str, script_hashes: Callable[[], Sequence[str]], names: Sequence[str] = ()) -> None:
    """Refuse requests from strangers, other hosts and other pages; let the page load nothing from elsewhere."""
    allowed = {*LOCAL_NAMES, *(name.lower() for name in names)}

    def check_host() -> None:
        # The name of another site may be made to point to this address.
        origin = request.headers.get("Origin")
        try:
            host = urlsplit(f"//{request.host}")
            is_own = (host.hostname or "").lower() in allowed and (host.port or 1) > 0
            is_own &= not origin or urlsplit(origin).netloc.lower() == request.host.lower()
        except ValueError:  # "http://[" is no address, and "a:b" has no port
            is_own = False
        if not is_own:
            abort(403)

    def check_token() -> Response | None:
        presented = request.args.get("token")
        if presented is not None and request.method == "GET" and _is_same(presented, token):
            query = urlencode([(name, value) for name, value in request.args.items(multi=True) if name != "token"])
            # One slash: two would name another host.
            answer = redirect(f"/{request.path.lstrip('/')}{'?' * bool(query)}{query}")
            port = urlsplit(f"//{request.host}").port  # cookies are shared by the ports of a host
            answer.set_cookie(f"{_COOKIE}-{port or 'app'}", _cookie_of(token), httponly=True, samesite="Lax")
            return answer  # type: ignore[return-value]
        if is_known(request.headers.get("Cookie", ""), token):
            return None
        return Response(_REFUSAL, status=403, mimetype="text/html")

    def add_headers(response: Response) -> Response:
        scripts = " ".join(f"'{one}'" if not one.startswith("'") else one for one in script_hashes())
        response.headers["Content-Security-Policy"] = (
            f"default-src 'self'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data: blob:; font-src 'self' data:; object-src 'none'; base-uri 'self'; "
            "form-action 'self'; frame-ancestors 'none'"
        )
        response.headers["X-Frame-Options"] = "DENY"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response

    server.before_request(check_host)
    server.before_request(check_token)
    server.after_request(add_headers)
    for kind in _OF_JUNK:
        server.register_error_handler(kind, _refuse_junk)


def _refuse_junk(error: Exception) -> tuple[str, int]:
    """Answer what no page of the app sends, and leave one line in the log, with the places of the app that it passed.

    An error that the library raises is not of that kind: the app passes on what fits, and states what does not.
    """
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _PACKAGE in Path(frame.filename).parents]
    if own and not Path(own[-1].filename).is_relative_to(_PACKAGE / "app"):
        raise error
    detail = printable(f"{type(error).__name__}: {error}"[:200])
    places = " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in own[-4:])
    logging.getLogger("suffice").warning("Refused a request: %s (%s)", detail, places or "not read")
    return "The app cannot use this request: load the page again.", 400


# --- the server -------------------------------------------------------------------------------------------------------


class Server:
    """An app that is bound to a port of the loopback address."""

    def __init__(self, app: Dash, port: int) -> None:
        self.token = app.server.config["TOKEN"]
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # short queues are normal
        self._sockets: dict[int, Any] = {}
        self._server: Any = create_server(
            app.server,
            map=self._sockets,
            host=HOST,
            port=port,
            threads=N_THREADS,
            connection_limit=N_CONNECTIONS + _MORE_CONNECTIONS,
            channel_timeout=IDLE_SECONDS,
            max_request_body_size=app.server.config["MAX_CONTENT_LENGTH"],
            ident=None,
        )
        self._server.channel_class = _channel_for(self.token)
        self.port = int(self._server.effective_port)
        self._is_over = threading.Event()
        self._is_serving = threading.Lock()  # held while it serves

    @property
    def root(self) -> str:
        """The address of the pages, for a browser that has the cookie."""
        return f"http://{HOST}:{self.port}/"

    @property
    def address(self) -> str:
        """The address for a browser, with the token."""
        return f"{self.root}?token={self.token}"

    def serve_forever(self) -> None:
        """Serve until `shutdown`, or until Ctrl-C."""
        with self._is_serving:
            self._server.run()

    def shutdown(self) -> None:
        """Stop serving; called from another thread. The port is free afterwards."""
        if self._is_over.is_set():
            return
        self._is_over.set()
        self._server.trigger.pull_trigger(lambda: wasyncore.close_all(self._sockets))
        self._server.task_dispatcher.shutdown(timeout=1)
        if self._is_serving.acquire(timeout=30):
            self._is_serving.release()


def _channel_for(token: str) -> type[HTTPChannel]:
    class Parser(HTTPRequestParser):  # type: ignore[misc]
        """Refuse a large body by its header, before it is stored."""

        def parse_header(self, header_plus: bytes) -> None:
            super().parse_header(header_plus)
            is_large = self.chunked or self.content_length > _SMALL
            if is_large and not is_known(self.headers.get("COOKIE", ""), token):
                raise ParsingError("A large request needs the cookie of the app.")

    class Channel(HTTPChannel):  # type: ignore[misc]
        parser_class = Parser

        def __init__(self, server: Any, *args: Any, **options: Any) -> None:
            super().__init__(server, *args, **options)
            others = [one for one in server.active_channels.values() if one is not self]
            idle = [one for one in others if not one.requests and not one.total_outbufs_len]
            if len(others) >= N_CONNECTIONS and idle:  # else whoever opens many would keep all others out
                min(idle, key=lambda one: one.last_activity).handle_close()

    return Channel


def bind(app: Dash, port: int | None = None) -> Server:
    """Bind the app to a port of the loopback address."""
    ports = [port] if port is not None else [*range(PORT, PORT + 20), 0]
    for one in ports:
        try:
            with socket.socket() as probe:  # waitress would leave its socket open
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((HOST, one))
        except OSError:
            continue
        return Server(app, one)
    raise ValueError(f"The port {port} is taken: choose another, or leave it out.")


def serve_in_thread(app: Dash, port: int | None = None) -> tuple[str, Server]:
    """Serve the app until the process ends, in a thread of its own."""
    server = bind(app, port)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()

    def stop() -> None:  # a thread that outlives the interpreter would keep the compiled core alive
        server.shutdown()
        thread.join(timeout=5)

    atexit.register(stop)
    return server.address, server


def open_browser(address: str) -> None:
    """Open a page in the browser of the user, if there is one.

    Other users of the computer can see how the browser was called, so it is called with a file that only this user can
    read, and that leads to the address.
    """
    folder = tempfile.mkdtemp(prefix="suffice-")  # for this user only
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    page = Path(folder) / "open.html"
    with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(
            f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={escape(address)}"><title>suffice</title>'
        )
    threading.Timer(0.5, webbrowser.open, [page.as_uri()]).start()
