"""Who may use the app: whoever knows its token, in a page of its own, through a name that the app was started with.

The token is in the address that the app opens. The first visit exchanges it for a cookie; without one of them every
request is refused, also for scripts and callbacks. So other users of the computer, and pages of other sites, are kept
out.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Callable, Sequence
from urllib.parse import urlencode, urlsplit

from flask import Flask, Response, abort, redirect, request

TOKEN_VARIABLE = "SUFFICE_APP_TOKEN"
LOCAL_NAMES = ("127.0.0.1", "localhost", "::1")
_MIN_TOKEN = 16  # characters of a token that the user chooses
_COOKIE = "suffice"
_REFUSAL = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>suffice</title></head>
<body style="font-family: sans-serif; margin: 3em"><h1>This page needs its token</h1>
<p>Open the address that the app printed when it was started: it ends with <code>?token=...</code></p></body></html>"""


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
        # A foreign page may let its own name point to this address.
        host = (urlsplit(f"//{request.host}").hostname or "").lower()
        origin = request.headers.get("Origin")
        if host not in allowed or (origin and urlsplit(origin).netloc.lower() != request.host.lower()):
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
