"""Who may use the app."""

from __future__ import annotations

import re

import pytest

from suffice.app.server import make_app
from suffice.app.serving import is_known, new_token
from suffice.app.state.sessions import Sessions

LOCAL = {"Host": "127.0.0.1:8050"}


@pytest.fixture(scope="module")
def app():
    return make_app(Sessions(), names=["Tables.example"])


@pytest.fixture
def stranger(app):
    return app.server.test_client()


@pytest.fixture
def visitor(app):
    """A client with the cookie."""
    client = app.server.test_client()
    assert client.get(f"/?token={app.server.config['TOKEN']}", headers=LOCAL).status_code == 302
    return client


def test_every_route_is_refused_without_the_token(app, stranger, visitor):
    """Any user of the computer could open the page and upload."""
    page = visitor.get("/", headers=LOCAL).text
    scripts = re.findall(r'src="(/[^"]+)"', page)
    paths = ["/", "/start", "/_dash-layout", "/_dash-dependencies", "/nowhere", "/assets/app.js", *scripts]
    assert len(paths) > 10
    for path in paths:
        refused = stranger.get(path, headers=LOCAL)
        assert refused.status_code == 403
        assert b"needs its token" in refused.data
        with visitor.get(path, headers=LOCAL) as answer:
            assert answer.status_code in (200, 404)
    assert stranger.post("/_dash-update-component", json={}, headers=LOCAL).status_code == 403
    for rule in app.server.url_map.iter_rules():
        assert stranger.get(re.sub("<.*?>", "x", rule.rule), headers=LOCAL).status_code in (403, 405)


def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address(app, stranger):
    token = app.server.config["TOKEN"]
    answer = stranger.get(f"/start?data=a%20b&token={token}&row=3", headers=LOCAL)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/start?data=a+b&row=3")
    [cookie] = answer.headers.getlist("Set-Cookie")
    assert cookie.startswith("suffice-8050=")
    assert token not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert stranger.get("/start", headers=LOCAL).status_code == 200
    foreign = stranger.get(f"/?token={token}", headers=LOCAL, environ_overrides={"PATH_INFO": "//evil.example/"})
    assert foreign.headers["Location"] == "/evil.example/"


@pytest.mark.parametrize("token", ["", "wrong", "é", "x" * 32])
def test_another_token_or_cookie_is_refused(token, stranger):
    assert stranger.get("/", query_string={"token": token}, headers=LOCAL).status_code == 403
    stranger.set_cookie("suffice-8050", token, domain="127.0.0.1")
    assert stranger.get("/", headers=LOCAL).status_code == 403
    assert not is_known(f"suffice-8050={token}; a=b", "the token")


def test_the_token_of_one_app_is_not_that_of_another(visitor, app):
    other = make_app(Sessions()).server.test_client()
    assert other.get(f"/?token={app.server.config['TOKEN']}", headers=LOCAL).status_code == 403


def test_other_hosts_and_pages_of_others_are_refused(app, visitor):
    """The client of Flask sends no cookie to another host: the token, and not the host, was refused in this test."""
    assert visitor.get("/", headers=LOCAL).status_code == 200
    client = app.server.test_client(use_cookies=False)
    cookie = client.get(f"/?token={app.server.config['TOKEN']}", headers=LOCAL).headers["Set-Cookie"].partition(";")[0]
    assert client.get("/", headers={**LOCAL, "Cookie": cookie}).status_code == 200
    for host in ("evil.example", "127.0.0.1.evil.example"):
        refused = client.get("/", headers={"Host": host, "Cookie": cookie})
        assert refused.status_code == 403
        assert b"needs its token" not in refused.data
    assert visitor.get("/", headers={**LOCAL, "Origin": "http://evil.example"}).status_code == 403
    assert visitor.get("/", headers={**LOCAL, "Origin": "http://127.0.0.1:8050"}).status_code == 200


def test_a_proxy_reaches_the_app_by_the_names_that_were_allowed(app, stranger):
    token = app.server.config["TOKEN"]
    answer = stranger.get(f"/?token={token}", headers={"Host": "tables.example", "Origin": "https://tables.example"})
    assert answer.status_code == 302
    assert answer.headers["Set-Cookie"].startswith("suffice-app=")


def test_every_answer_forbids_frames_and_foreign_scripts(stranger, visitor):
    for answer in (stranger.get("/", headers=LOCAL), visitor.get("/", headers=LOCAL), visitor.get("/")):
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "http" not in policy
        assert answer.headers["X-Frame-Options"] == "DENY"


def test_a_token_is_random_or_that_of_the_environment(monkeypatch):
    monkeypatch.delenv("SUFFICE_APP_TOKEN", raising=False)
    assert len({new_token() for _ in range(10)}) == 10
    assert len(new_token()) == 32
    monkeypatch.setenv("SUFFICE_APP_TOKEN", "a long enough token")
    assert new_token() == "a long enough token"
    monkeypatch.setenv("SUFFICE_APP_TOKEN", "short")
    with pytest.raises(ValueError, match="SUFFICE_APP_TOKEN must have at least 16 ASCII characters"):
        new_token()
