"""Who may use the app."""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter

import pytest
from app_client import traffic_table
from flask import Flask
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer
from suffice.app.server import make_app
from suffice.app.serving import is_known, new_token, protect
from suffice.app.state.sessions import Sessions
from suffice.app.state.workspace import Workspace

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


@pytest.mark.parametrize(
    "headers",
    [{"Host": host} for host in ("[", "127.0.0.1:x", "127.0.0.1:99999", "127.0.0.1:-1", "a b", "")]
    + [{**LOCAL, "Origin": origin} for origin in ("http://[", "null", "//", "http://127.0.0.1:x", "\xff")]
    + [{**LOCAL, "Cookie": cookie} for cookie in ("suffice", "\x80=\xff; ;;=;", f"suffice-8050={'é' * 5000}")],
    ids=repr,
)
def test_malformed_heads_are_refused_before_anything_is_read(headers, app, caplog):
    """`Origin: http://[` was answered by 500 and a traceback, without the token."""
    stranger = app.server.test_client(use_cookies=False)
    paths = ["/", f"/?token={app.server.config['TOKEN'][:-1]}", "/?token=%ff%00", "/_dash-layout"]
    assert {stranger.get(path, headers=headers).status_code for path in paths} <= {400, 403}
    assert not caplog.records


@pytest.fixture(scope="module")
def table_app():
    table = traffic_table(60)
    explainer = SufficientExplainer(RandomForestClassifier(5, random_state=0), n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer.fit(table.drop("traffic"), table["traffic"])
    return make_app(Sessions(Workspace.of(explainer, table.drop("traffic"), table["traffic"], "traffic")))


JUNK = [None, -1, "x", True, [], [None], [[[]]], {"a": 1}, {"data": 5}, {"data": "", "row": "x"}, {"row": 10**30}]
JUNK += [{"row": -5, "tab": "rows"}, {"pi": "x", "row": 0}, {"chosen": 5}, {"edits": 5}, {"edits": {"hour": {}}}, 1e308]


def junk_request(output, callback, value):
    """What a page would send to a callback, with the same value for every input and state."""

    def filled(part):
        name = json.loads(part["id"]) if part["id"].startswith("{") else part["id"]
        if not isinstance(name, dict):
            return {"id": name, "property": part["property"], "value": value}
        known = {key: "x" if kind in (["ALL"], ["MATCH"]) else kind for key, kind in name.items()}
        return [{"id": known, "property": part["property"], "value": value}]

    names = [dict(zip(("id", "property"), one.rsplit(".", 1), strict=True)) for one in output.strip(".").split("...")]
    inputs, state = ([filled(part) for part in callback[kind]] for kind in ("inputs", "state"))
    changed = [f"{part['id']}.{part['property']}" for part in callback["inputs"][:1]]
    outputs = names if output.startswith("..") else names[0]
    return {"output": output, "outputs": outputs, "inputs": inputs, "state": state, "changedPropIds": changed}


def test_junk_is_refused_by_every_callback_without_a_traceback(table_app, caplog):
    """57 of 78 junk callbacks were answered by 500."""
    visitor = table_app.server.test_client()
    visitor.get(f"/?token={table_app.server.config['TOKEN']}", headers=LOCAL)
    callbacks = {out: callback for out, callback in table_app.callback_map.items() if "callback" in callback}
    bodies = [json.dumps(junk_request(*one, value)) for one in callbacks.items() for value in JUNK]
    bodies += ["", "{", "null", "[]", "5", "{}", '{"output": 5}', "[" * 100_000, "9" * 5000, "NaN", b"\xff\xfe"]
    bodies += ['{"output":"page.children","inputs":[' + "9" * 5000 + "]}", '{"output":"no.where","inputs":[]}']
    assert len(bodies) > 300
    statuses = Counter()
    for body in bodies:
        answer = visitor.post("/_dash-update-component", data=body, headers=LOCAL, content_type="application/json")
        statuses[answer.status_code] += 1
    assert visitor.get("/_dash-component-suites/x/y.js", headers=LOCAL).status_code == 400
    assert {*statuses} <= {200, 204, 400}
    assert statuses[400] > 200
    assert not any(record.exc_info for record in caplog.records)
    assert "Refused a request: TypeError" in caplog.text


def test_an_error_of_the_library_is_none_of_the_request(caplog):
    """Every TypeError was answered as if the request were to blame, without a traceback."""
    server = Flask("pages")
    protect(server, "a token of an app", list)
    server.add_url_rule("/library", "library", view_func=lambda: SufficientExplainer().fit([["a"]], [1, 2]))
    server.add_url_rule("/app", "app", view_func=lambda: Workspace.of(None, None, None, "y"))
    visitor = server.test_client()
    visitor.get("/?token=a+token+of+an+app", headers=LOCAL)
    assert visitor.get("/app", headers=LOCAL).status_code == 400
    assert not any(record.exc_info for record in caplog.records)
    assert re.search(r"Refused a request: .* \(workspace\.py:\d+( > \w+\.py:\d+)*\)", caplog.text)
    assert visitor.get("/library", headers=LOCAL).status_code == 500
    assert any(record.exc_info for record in caplog.records)
