"""The web app: links, uploads, jobs and workspaces by themselves; then every page, clicked through in a browser."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import re
import subprocess
import sys
import threading
import time
import zipfile
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier

from suffice import GlobalRulesClassifier, SufficientExplainer
from suffice._cli.results import training_rows
from suffice.app.pages.editors import NO_CHANGE, read_edits, read_value, shown_values
from suffice.app.pages.lookalikes import covered_rows, distances, look_alikes
from suffice.app.pages.rule_list import find_rules, rules_json
from suffice.app.pages.start import demo_workspace, fit_workspace
from suffice.app.parts.grids import choose_rows, page_of
from suffice.app.server import HOST, bind, make_app, open_files, serve_in_thread
from suffice.app.state import uploads
from suffice.app.state.desk import Desk
from suffice.app.state.jobs import Cancelled, Job, Jobs, explain_rows, join_explanations
from suffice.app.state.uploads import read_upload
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.app.words import in_words
from suffice.words import format_number, format_probability

DATA = os.environ.get("SUFFICE_DATA")
HOSTILE = "<script>alert(1)</script>"
WAIT = 30_000
SOON = 10  # seconds; alone on two cores an edit takes 0.4, the first page 1.0


def as_upload(data):
    return f"data:text/csv;base64,{base64.b64encode(data).decode()}"


def mixed_table(n):
    """Numbers, whole numbers, labels, booleans, and gaps."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "hour": rng.integers(0, 24, n),
            "temp": np.round(rng.normal(10, 8, n), 2),
            "sky": rng.choice(["clear", "mist", "rain"], n),
            "holiday": rng.random(n) < 0.3,
        }
    )
    frame = frame.with_columns(
        temp=pl.Series(
            [None if gap else v for gap, v in zip(rng.random(n) < 0.1, frame["temp"].to_list(), strict=True)]
        )
    )
    is_busy = (frame["hour"] > 11) & (frame["sky"] != "rain") | frame["holiday"]
    return frame.with_columns(traffic=is_busy.replace_strict({True: "busy", False: "calm"}))


@pytest.fixture(scope="module")
def mixed():
    return fit_workspace(mixed_table(400), "traffic", [], False, "traffic")


@pytest.fixture(scope="module")
def cancer():
    return demo_workspace(0)


@pytest.fixture(scope="module")
def bike():
    """The bike rentals, or a table of their shape where the files are not at hand."""
    if DATA:
        from experiments.data.loaders import load_bike

        X, y = load_bike(DATA)
    else:
        rng = np.random.default_rng(0)
        n = 10_886
        X = pd.DataFrame(
            {"hour": rng.integers(0, 24, n), "temp": rng.normal(20, 8, n), "humidity": rng.integers(0, 100, n)}
        )
        X["atemp"] = X["temp"] + rng.normal(0, 0.1, n)
        X["workingday"], X["year"] = rng.random(n) < 0.7, rng.integers(2011, 2013, n)
        for name in ("season", "weather", "weekday", "month"):
            X[name] = rng.integers(1, 5, n)
        y = pd.Series(np.round(20 + 4 * X["hour"] + 9 * X["temp"] + rng.normal(0, 20, n)).clip(1), name="count")
    return Workspace.of(SufficientExplainer(random_state=0).fit(X, y), X, y, "bike")


# --- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "view",
    [
        View(),
        View(row=3, tab="rules", data="ab12"),
        View(edits={"a b": 1.5, "x.y": None, "&=?": "é <b>", "n": "null", "t": True, "s": "12"}, find="hour > 17"),
        View(pi=0.85, alpha=0.2, n_candidates=3, chosen=("hour", "a,b"), outcome="observed", unseen=True),
    ],
)
def test_a_link_gives_the_view_back(view):
    assert View.from_search(view.to_search()) == view
    assert View.from_store(json.loads(json.dumps(view.to_store()))) == view


@pytest.mark.parametrize(
    "search",
    [
        "?row=-1",
        "?row=x",
        "?row=1.5",
        "?pi=2",
        "?pi=NaN",
        "?alpha=0",
        "?n_candidates=99",
        "?tab=no",
        "?data=../x",
        "?x.a=[1]",
        "?x.a=NaN",
        "?x.a=1e999",
        f"?x.a=1{'0' * 400}",
        f"?row=1{'0' * 5000}",
        "&&=",
        None,
    ],
)
def test_a_broken_link_is_the_usual_view(search):
    assert View.from_search(search) == View()


def test_a_link_to_what_the_table_does_not_have_is_mended(mixed):
    view = View(row=10**6, edits={"hour": 3, "none": 1}, chosen=("none",), n_candidates=50)
    assert mixed.check(view) == View(row=399, edits={"hour": 3}, n_candidates=4)


# --- workspaces -------------------------------------------------------------------------------------------------------


def test_a_workspace_answers_as_the_library_does(mixed):
    explainer = mixed.explainer
    row = mixed.frame[7].select(mixed.names)
    expected = explainer.explain(row)[0]
    found = mixed.explain(View(row=7))[0]
    assert found.sufficient_sets == expected.sufficient_sets
    assert mixed.rule(View(row=7)) == expected.rule
    S = expected.sufficient_sets[-1].variables
    assert mixed.rule(View(row=7, chosen=S)) == explainer.rule(row, list(S))[0]
    of_set, of_all = mixed.distribution(View(row=7))
    assert np.array_equal(of_set, explainer.predict_proba(row, list(expected.best_set.variables))[0])
    assert np.array_equal(of_all, explainer.predict_proba(row)[0])


def test_settings_of_a_view_do_not_touch_the_explainer(mixed):
    before = (mixed.explainer.pi, mixed.explainer.candidates_, mixed.explainer._projected)
    view = View(row=2, pi=0.6, n_candidates=2)
    copy = mixed.explainer_for(view)
    assert copy.candidates_ == mixed.explainer.candidates_[:2]
    assert (mixed.explainer.pi, mixed.explainer.candidates_, mixed.explainer._projected) == before
    frame = mixed.frame
    again = SufficientExplainer(random_state=0, pi=0.6, n_candidates=2, dates="parts").fit(
        frame.drop("traffic"), frame["traffic"]
    )
    expected = again.explain(frame[2].select(mixed.names))[0]
    assert mixed.explain(view)[0].sufficient_sets == expected.sufficient_sets
    assert mixed.rule(view) == expected.rule


@pytest.mark.parametrize(
    ("name", "value"), [("hour", 23), ("hour", 5.5), ("temp", None), ("sky", "rain"), ("holiday", True)]
)
def test_an_edited_row_is_explained_with_the_edit(mixed, name, value):
    frame = mixed.frame[7].select(mixed.names)
    edited = frame.with_columns(pl.Series(name, [value], dtype=frame.schema[name] if value is None else None))
    assert mixed.explain(View(row=7, edits={name: value}))[0].to_dict() == {
        **mixed.explainer.explain(edited, rules=None)[0].to_dict()
    }


def test_an_unseen_category_is_told_and_can_count_as_missing(mixed):
    view = View(row=1, edits={"sky": "snow"})
    with pytest.raises(ValueError, match="not among its categories at fit") as told:
        mixed.explain(view)
    assert "Let it count as missing under Settings." in in_words(told.value)
    as_missing = mixed.explain(View(row=1, edits={"sky": None}))[0]
    assert mixed.explain(view.with_(unseen=True))[0].sufficient_sets == as_missing.sufficient_sets


def test_the_observed_outcome_is_explained_on_request_but_not_of_an_edited_row(mixed):
    wrong = next(i for i in range(400) if mixed.explain(View(row=i))[0].outcome == "calm")
    other = Workspace(mixed.explainer, mixed.frame, ["busy"] * 400, "other")
    assert other.explain(View(row=wrong, outcome="observed"))[0].outcome == "busy"
    assert (
        other.explain(View(row=wrong, outcome="observed", edits={"temp": None}))[0].prediction
        == other.explain(View(row=wrong, outcome="observed", edits={"temp": None}))[0].outcome
    )


def test_a_date_is_edited_as_text():
    days = pl.date_range(pl.date(2023, 1, 1), pl.date(2023, 12, 31), eager=True)
    frame = pl.DataFrame({"day": days, "x": np.arange(365) % 7}).with_columns(kind=days.dt.weekday() > 5)
    space = fit_workspace(frame, "kind", [], True, "days")
    assert shown_values(space, View(row=2)) == ["2023-01-03", 2]
    assert space.explain(View(row=2, edits={"day": "2023-01-07"}))[0].values[0][1][2] == ("day.weekday", "Sat")
    with pytest.raises(ValueError, match="'soon' is no date: write the value of 'day' as 2024-01-31"):
        space.explain(View(row=2, edits={"day": "soon"}))
    assert find_rules(space, View(), 50, Job("", 50)).rules_


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("hour > 20 AND sky = rain", lambda f: (f["hour"] > 20) & (f["sky"] == "rain")),
        ("if hour <= 2 and holiday = True", lambda f: (f["hour"] <= 2) & f["holiday"]),
        ("temp is missing", lambda f: f["temp"].is_null()),
        ("MIST", lambda f: f["sky"] == "mist"),
        ("traffic = busy", lambda f: f["traffic"] == "busy"),
        ("", lambda f: pl.Series([True] * f.height)),
    ],
)
def test_rows_are_found_by_conditions_or_words(mixed, text, condition):
    assert mixed.find(text).tolist() == condition(mixed.frame).arg_true().to_list()


def test_a_search_that_cannot_be_read_is_told(mixed):
    with pytest.raises(ValueError, match="Did you mean 'hour'"):
        mixed.find("hours > 3")


def test_a_workspace_takes_arrays_and_pandas_frames():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    explainer = SufficientExplainer(RandomForestClassifier(5, random_state=0)).fit(X, X[:, 1] > 0)
    space = Workspace.of(explainer, X)
    assert space.explain(View(row=4))[0].best_set == explainer.explain(X[4:5])[0].best_set
    frame = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.where(X[:, 1] > 0, "p", "q"))})

    def model(rows):
        assert isinstance(rows, pd.DataFrame)
        assert rows["b"].dtype == "category"
        return np.where(rows["b"] == "p", "yes", "no")

    space = Workspace.of(SufficientExplainer.for_model(model, frame, random_state=0), frame)
    assert space.explain(View(row=0))[0].outcome == model(frame)[0]
    assert space.explain(View(row=0, edits={"b": "q"}))[0].outcome == "no"


def test_a_table_without_a_column_of_the_explainer_is_refused(mixed):
    with pytest.raises(ValueError, match=r"missing \['sky'\]"):
        Workspace.of(mixed.explainer, mixed.frame.drop("sky"))


def test_what_inputs_show_reads_back(mixed):
    for row in range(20):
        view = View(row=row)
        shown = shown_values(mixed, view)
        assert read_edits(mixed, view, shown) == {}
    changed = [7, 1.25, None, shown[3]]
    edits = read_edits(mixed, view, changed)
    assert edits["hour"] == 7
    assert edits["temp"] == 1.25
    assert edits["sky"] is None
    assert shown_values(mixed, view.with_(edits=edits))[:2] == [7, 1.25]
    assert read_value(mixed, 0, "-") is NO_CHANGE
    assert read_value(mixed, 2, "99") is NO_CHANGE


def test_rows_that_look_alike_are_near_and_come_out_otherwise(mixed):
    view = View(row=7)
    explanation = mixed.explain(view)[0]
    matrix, outcomes, _ = mixed.training
    row = mixed.encoded(view)
    distance = distances(mixed, row, [0, 2])
    assert distance[7] == 0
    other_sky = matrix[:, 2] != row[2]
    assert (distance[other_sky] >= 0.5).all()
    lines, _ = look_alikes(mixed, row, explanation, [0, 1, 2, 3])
    assert {line["outcome"] for line in lines} == set(outcomes) - {explanation.outcome}
    assert [line["distance"] for line in lines] == sorted(line["distance"] for line in lines)
    rule = mixed.rule(view)
    lines, note = covered_rows(mixed, rule, explanation)
    assert len(lines) == rule.support
    assert note.startswith(f"{rule.support} rows")


@pytest.mark.parametrize(
    ("model", "condition"),
    [
        ({"c0": {"type": "greaterThan", "filter": 20}}, lambda f: f["hour"] > 20),
        ({"c0": {"type": "inRange", "filter": 3, "filterTo": 5}}, lambda f: f["hour"].is_between(3, 5)),
        ({"c1": {"type": "blank"}}, lambda f: f["temp"].is_null()),
        ({"c2": {"type": "contains", "filter": "IS"}}, lambda f: f["sky"] == "mist"),
        ({"c3": {"type": "equals", "filter": "true"}}, lambda f: f["holiday"]),
        (
            {
                "c0": {
                    "operator": "OR",
                    "conditions": [{"type": "equals", "filter": 1}, {"type": "equals", "filter": 2}],
                }
            },
            lambda f: f["hour"].is_in([1, 2]),
        ),
        ({"c99": {"type": "blank"}}, lambda f: pl.Series([True] * f.height)),
    ],
)
def test_the_filters_of_a_grid_choose_rows(mixed, model, condition):
    assert choose_rows(mixed.frame, model, None).tolist() == condition(mixed.frame).arg_true().to_list()


def test_the_order_of_a_grid_orders_rows(mixed):
    rows = choose_rows(mixed.frame, None, [{"colId": "c1", "sort": "desc"}, {"colId": "row", "sort": "asc"}])
    temps = mixed.frame["temp"][rows.tolist()].to_list()
    known = [t for t in temps if t is not None]
    assert known == sorted(known, reverse=True)
    assert temps[len(known) :] == [None] * (len(temps) - len(known))
    assert page_of(mixed.frame, rows[:1])[0]["row"] == rows[0]


# --- jobs -------------------------------------------------------------------------------------------------------------


def test_rows_explained_a_few_at_a_time_are_explained_as_at_once(mixed):
    rows = mixed.frame[:60].select(mixed.names)
    found = explain_rows(mixed, View(pi=0.8), rows, None, Job("", 60))
    assert found.to_dict() == mixed.explainer_for(View(pi=0.8)).explain(rows).to_dict()
    assert found.mean_importance() == mixed.explainer_for(View(pi=0.8)).explain(rows).mean_importance()
    assert join_explanations([found]).to_dict() == found.to_dict()


def test_a_job_can_be_cancelled_and_failures_are_told():
    jobs = Jobs()

    def work(job):
        for i in range(1000):
            job.step(i)
            time.sleep(0.01)

    name = jobs.start(Job("", 1000), work)
    jobs.get(name).cancel()
    bad = jobs.start(Job(""), lambda job: int("x"))
    worse = jobs.start(Job(""), lambda job: {}[0])
    deadline = time.monotonic() + 10
    while "running" in {jobs.get(n).state for n in (name, bad, worse)} and time.monotonic() < deadline:
        time.sleep(0.02)
    assert jobs.get(name).state == "cancelled"
    assert jobs.get(bad).message.startswith("invalid literal")
    assert jobs.get(worse).message == "Something is wrong with the program: KeyError."
    with pytest.raises(Cancelled):
        jobs.get(name).step(1)


def test_global_rules_are_those_of_the_library(mixed):
    model = find_rules(mixed, View(), 10**6, Job("", 400))
    X, y = training_rows(mixed.explainer)
    expected = GlobalRulesClassifier.from_explanations(mixed.explainer.explain(X, y, sets="minimal"))
    assert model.rules_ == expected.rules_
    assert [line["if"] for line in json.loads(rules_json(model))] == [line.text for line in model.rules_]


# --- uploads ----------------------------------------------------------------------------------------------------------


def zip_bomb():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.csv", b"0" * 10**7)
    return packed.getvalue()


BAD_FILES = {
    "empty.csv": (b"", "is empty"),
    "bomb.csv": (zip_bomb(), "zip archive"),
    "nul.csv": (b"a,b\n1,\0\n", "NUL bytes"),
    "broken.parquet": (b"PAR1 nothing", "Parquet"),
    "cut.csv.gz": (gzip.compress(b"a,b\n1,2\n")[:-6], "damaged or cut off"),
    "twice.gz": (gzip.compress(gzip.compress(b"a")), "compressed twice"),
    "ragged.csv": (b"a,b\n1,2,3\n", "line 2: 3 fields"),
    "twins.csv": (b"a,a\n1,2\n", "two columns named 'a'"),
    "header.csv": (b"a,b\n", "no rows"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_upload_is_refused_in_a_sentence_with_its_name(name):
    data, told = BAD_FILES[name]
    with pytest.raises(ValueError, match=re.escape(told)) as refused:
        read_upload(as_upload(data), name)
    assert str(refused.value).startswith(name)
    assert "/tmp" not in str(refused.value)


def test_a_file_that_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(uploads, "MAX_UNPACKED", 1000)
    with pytest.raises(ValueError, match="larger than 0 MiB when unpacked"):
        read_upload(as_upload(gzip.compress(b"1\n" * 1000)), "x.csv.gz")
    monkeypatch.setattr(uploads, "MAX_CELLS", 10)
    many = io.BytesIO()
    pl.DataFrame({"a": np.zeros(1000)}).write_parquet(many)
    with pytest.raises(ValueError, match="1000 rows and 1 columns: too large"):
        read_upload(as_upload(many.getvalue()), "x.parquet")
    monkeypatch.setattr(uploads, "MAX_UPLOAD", 10)
    with pytest.raises(ValueError, match="larger than 0 MiB"):
        read_upload(as_upload(b"x" * 11), "x.csv")


def test_good_uploads_are_read(mixed, tmp_path):
    frame, notes = read_upload(as_upload(gzip.compress("a;b\n1;é\n".encode("cp1252"))), "../../t.csv.gz")
    assert frame.to_dicts() == [{"a": 1, "b": "é"}]
    assert notes == ["The file is not UTF-8; it is read as Windows-1252."]
    mixed.explainer.save(tmp_path / "m.suffice")
    loaded, _ = read_upload(as_upload((tmp_path / "m.suffice").read_bytes()), "m.suffice")
    assert loaded.candidates_ == mixed.explainer.candidates_
    with pytest.raises(ValueError, match="did not arrive whole"):
        read_upload("data:text/csv;base64,%%%", "x.csv")


# --- the server -------------------------------------------------------------------------------------------------------


def test_the_server_listens_on_the_loopback_address_only(mixed):
    server = bind(make_app(Desk(mixed)), 0)
    assert server.server_address[0] == HOST == "127.0.0.1"
    with pytest.raises(ValueError, match="is taken"):
        bind(make_app(Desk(mixed)), server.port)
    server.server_close()


def test_other_hosts_and_pages_of_others_are_refused(mixed):
    client = make_app(Desk(mixed)).server.test_client()
    assert client.get("/", headers={"Host": "127.0.0.1:8050"}).status_code == 200
    assert client.get("/", headers={"Host": "localhost:8050"}).status_code == 200
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403
    assert client.get("/", headers={"Host": "127.0.0.1:8050", "Origin": "http://evil.example"}).status_code == 403
    policy = client.get("/", headers={"Host": "127.0.0.1"}).headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "http" not in policy


def test_the_page_names_no_other_host(mixed):
    page = make_app(Desk(mixed)).server.test_client().get("/", headers={"Host": "127.0.0.1"}).text
    assert re.findall(r"""(?:src|href)="(?:https?:)?//""", page) == []


def test_files_are_opened_for_what_they_are(mixed, tmp_path):
    model, table = str(tmp_path / "m.suffice"), str(tmp_path / "t.csv")
    mixed.explainer.save(model)
    mixed.frame.write_csv(table)
    assert open_files(model)[0].first.frame.height == 400
    assert open_files(model, table)[0].first.observed == mixed.observed
    desk, waiting = open_files(table)
    assert desk.first is None
    assert waiting.get("").frame.shape == (400, 5)
    assert open_files(table, target="traffic")[0].first.explainer.target_name_ == "traffic"
    assert open_files(None)[0].first is None
    with pytest.raises(ValueError, match=r"there is no column 'trafic' in .* Did you mean 'traffic'"):
        open_files(table, target="trafic")
    with pytest.raises(ValueError, match="is not a saved explainer"):
        open_files(table, table)
    with pytest.raises(ValueError, match="There is no file"):
        open_files(str(tmp_path / "none.suffice"))
    with pytest.raises(ValueError, match="--demo"):
        open_files(table, demo=True)


def test_without_its_packages_the_app_names_its_extra():
    code = "import sys; sys.modules['dash'] = None\nimport suffice.app.server"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip().endswith("ImportError: The web app needs its extra: pip install 'suffice[app]'.")


def test_the_command_serves_the_app(mixed, tmp_path):
    from urllib.request import urlopen

    mixed.explainer.save(tmp_path / "m.suffice")
    code = "import sys; from suffice._cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "app", str(tmp_path / "m.suffice"), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())[0]
            assert b"suffice" in urlopen(address).read()
        finally:
            process.terminate()


def test_an_explainer_shows_itself(mixed):
    from urllib.request import urlopen

    address = mixed.explainer.app(mixed.frame, port=0)
    assert b"suffice" in urlopen(address).read()


# --- in the browser ---------------------------------------------------------------------------------------------------


class Client:
    """A page of the app, and all that went wrong on it."""

    def __init__(self, context, address, desk, workspace):
        self.start = f"{address}start"
        self.link = View(data=desk.add(workspace)) if workspace is not None else View()
        self.root = address
        self.page = context.new_page()
        self.page.set_default_timeout(WAIT)
        self.outside, self.errors, self.alerts = [], [], []
        self.page.on("request", self._see)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("response", lambda r: self.errors.append(f"{r.status} {r.url}") if r.status >= 400 else None)
        self.page.on("dialog", self._dismiss)

    def _see(self, request):
        if urlsplit(request.url).scheme not in ("data", "blob") and urlsplit(request.url).hostname != HOST:
            self.outside.append(request.url)

    def _dismiss(self, dialog):
        self.alerts.append(dialog.message)
        dialog.dismiss()

    def open(self, wait_for="#outcome", **view):
        """Follow the link to a view."""
        self.page.goto(self.root + self.link.with_(**view).to_search())
        self.page.wait_for_selector(wait_for)
        return self.page

    def open_start(self):
        self.page.goto(self.start)
        self.page.wait_for_selector("#upload input", state="attached")
        return self.page

    def text(self, selector):
        return self.page.inner_text(selector)

    def wait_for_text(self, selector, text):
        self.page.wait_for_function(
            "([s, t]) => { const e = document.querySelector(s); return e && e.innerText.includes(t); }",
            arg=[selector, text],
        )

    def wait_for_link(self, part):
        self.page.wait_for_function("part => window.location.search.includes(part)", arg=part)

    def set_number(self, column, value):
        self.page.locator(f"input[id*='\"column\":{column}'][id*='value']").fill(str(value))

    def close(self):
        self.page.close()
        assert self.outside == []
        assert self.errors == []
        assert self.alerts == []


@pytest.fixture(scope="module")
def served(browser):
    """One server and one browser profile for all: scripts are loaded once."""
    desk = Desk()
    address, server = serve_in_thread(make_app(desk), 0)
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light", accept_downloads=True)
    yield context, address, desk
    context.close()
    server.shutdown()


@pytest.fixture
def open_app(served):
    opened = []

    def open_it(workspace=None):
        opened.append(Client(*served, workspace))
        return opened[-1]

    yield open_it
    for client in opened:
        client.close()


def test_one_row_of_numbers_is_explained_edited_and_linked(open_app, bike):
    app = open_app(bike)
    row = next(i for i in range(100, 200) if len(bike.explain(View(row=i, pi=0.8))[0].sufficient_sets) > 1)
    view = View(row=row, pi=0.8)
    page = app.open(row=row, pi=0.8)
    expected = bike.explainer_for(view).explain(bike.row_of(view))[0]
    low, high = (format_number(end) for end in expected.interval)
    assert app.text("#interval") == f"kept within [{low}, {high}]"
    assert app.text("#outcome") == format_number(float(f"{expected.outcome:.4g}"))
    assert page.get_attribute("#sentence", "title") == str(expected.rule)

    # The sets: all of them, and the rule of the one that is clicked.
    page.wait_for_selector("#sets .ag-row[row-index='1']")
    other = expected.sufficient_sets[1].variables
    page.click("#sets .ag-row[row-index='1'] .ag-cell[col-id='variables']")
    rule = bike.explainer_for(view).rule(bike.row_of(view), list(other))[0]
    page.wait_for_function("t => document.querySelector('#sentence').title === t", arg=str(rule))
    app.wait_for_link("set=")
    app.wait_for_text("#covered-note", f"{rule.support} row")
    assert page.locator("#boxes .js-plotly-plot").count() == 1
    assert page.locator("#distribution .js-plotly-plot").count() == 1

    # An edit changes the explanation at once, and stands in the link.
    i = bike.names.index("hour")
    begin = time.perf_counter()
    app.set_number(i, 3)
    edited = View(row=row, pi=0.8, edits={"hour": 3}, chosen=other)
    expected = bike.explain(edited)[0]
    app.wait_for_text("#outcome", format_number(float(f"{expected.outcome:.4g}")))
    assert time.perf_counter() - begin < SOON
    app.wait_for_link("x.hour=3")
    assert app.text("#outcome-card").startswith(f"count, predicted for row {row} · 1 value edited")

    # The link alone gives the same page.
    link = page.evaluate("window.location.search")
    assert View.from_search(link) == edited.with_(data=app.link.data)
    before = app.text("#outcome-card"), app.text("#rule")
    page.reload()
    page.wait_for_selector("#outcome")
    assert (app.text("#outcome-card"), app.text("#rule")) == before
    page.click("#reset")
    app.wait_for_text("#outcome-card", "observed")


def test_the_page_of_a_large_table_is_soon_there(open_app, bike):
    app = open_app(bike)
    app.page.add_init_script(
        "new MutationObserver(() => {"
        "  if (!window.seen && document.querySelector('#outcome')) window.seen = performance.now();"
        "}).observe(document, {childList: true, subtree: true});"
    )
    page = app.open()
    assert 0 < page.evaluate("window.seen") / 1000 < SOON


def test_one_row_of_classes_is_chosen_set_and_not_enough(open_app, cancer):
    app = open_app(cancer)
    page = app.open(row=5)
    expected = cancer.explain(View(row=5))[0]
    assert app.text("#outcome") == expected.outcome
    ranked = sorted((v, n) for n, v in expected.importance.items() if v > 0)
    assert app.text("#importance .number") == f"{ranked[-1][0]:.2f}"
    of_set, _ = cancer.distribution(View(row=5))
    page.wait_for_selector("#classes .number")
    assert app.text("#classes .number") == format_probability(of_set.max())
    page.wait_for_selector("#alike .ag-row")
    assert set(page.locator("#alike .ag-cell[col-id='outcome']").all_inner_texts()) == {"malignant", "benign"} - {
        expected.outcome
    }

    # Moving: next, by search, at random among what was found, from the table.
    page.click("#next")
    app.wait_for_link("row=6")
    page.fill("#find", "mean radius > 20 AND diagnosis = malignant")
    app.wait_for_text("#find-note", "rows match")
    matches = cancer.find("mean radius > 20 AND diagnosis = malignant")
    assert app.text("#find-note") == f"{len(matches)} of 569 rows match"
    app.wait_for_link(f"row={matches[0]}")
    assert len(matches) > 1
    for _ in range(20):  # a random row may be the one that is shown already
        page.click("#random")
        page.wait_for_timeout(200)
        if int(page.input_value("#row")) != matches[0]:
            break
    assert int(page.input_value("#row")) in matches[1:]
    page.fill("#find", "mean radus > 20")
    app.wait_for_text("#find-note", "Did you mean 'mean radius'?")
    page.click("#browse")
    page.click("#browser .ag-row[row-index='3'] .ag-cell[col-id='c1']")
    app.wait_for_text("#outcome-card", "row 3")

    # Nothing is sufficient at this pi: what would be is told, and one click away.
    app.open("#row-message .message", row=5, pi=1.0, n_candidates=2)
    best = cancer.explain(View(row=5, pi=1.0, n_candidates=2))[0].best_set
    told = app.text("#row-message")
    assert "No set of the candidates keeps this outcome with probability 1." in told
    assert f"With π = {float(format_probability(best.sdp)):g} it would be enough." in told
    page.click("#row-message button")
    page.wait_for_function("() => !document.querySelector('#row-message .message')")
    app.wait_for_link(f"pi={float(format_probability(best.sdp)):g}")
    assert app.text("#pi-text") == f"{float(format_probability(best.sdp)):g}"
    app.wait_for_text("#effect", "as fitted: ")


def test_categories_gaps_and_unseen_ones(open_app, mixed):
    app = open_app(mixed)
    page = app.open("#row-message .message", edits={"sky": "snow"})
    assert "This row cannot be explained." in app.text("#row-message")
    assert "'snow'" in app.text("#row-message")
    page.click("label:has-text('Unseen categories')")
    page.wait_for_selector("#outcome")
    app.wait_for_link("unseen=true")
    app.open()
    page.click("input[id*='\"column\":2'][id*='value']")
    page.click("[role=option]:has-text('rain')")
    app.wait_for_link("x.sky=%22rain%22")
    app.set_number(0, "")
    app.wait_for_link("x.hour=null")
    view = mixed.check(View.from_search(page.evaluate("window.location.search")))
    app.wait_for_text("#outcome-card", "2 values edited")
    assert app.text("#outcome") == mixed.explain(view)[0].outcome


def test_many_rows_are_filtered_explained_cancelled_and_saved(open_app, cancer, tmp_path, monkeypatch):
    app = open_app(cancer)
    page = app.open("#table .ag-row", tab="rows")
    radius = page.locator("#table .ag-floating-filter input").first
    radius.fill("14")
    expected = np.flatnonzero(cancer.frame["mean radius"] == 14).tolist()
    app.wait_for_text("#n-chosen", f"{len(expected)} of 569 rows chosen")
    radius.fill("")
    page.wait_for_function("() => document.querySelector('#n-chosen').innerText === '569 rows'")
    page.fill("#n-most", "40")
    page.click("#explain")
    page.wait_for_selector("#many-tiles .tile")
    told = cancer.explainer.explain(cancer.frame[:40].select(cancer.names))
    assert app.text("#many-tiles .tile .large") == "40"
    mean = sorted(told.mean_importance().values())[-1]
    assert app.text("#many-importance .number") == f"{mean:.2f}"
    page.wait_for_selector("#heatmap .js-plotly-plot")
    page.wait_for_selector("#groups .ag-row")
    counts: dict[object, int] = {}
    for one in told:
        key = one.best_set.variables if one.is_sufficient else None
        counts[key] = counts.get(key, 0) + 1
    assert app.text("#groups .ag-row[row-index='0'] .ag-cell[col-id='n']") == str(max(counts.values()))
    for kind in ("csv", "parquet", "html"):
        with page.expect_download() as caught:
            page.click(f"#save-{kind}")
        path = tmp_path / f"found.{kind}"
        caught.value.save_as(path)
        if kind == "html":
            assert "Breast cancer" in path.read_text(encoding="utf-8")
        else:
            found = pl.read_csv(path) if kind == "csv" else pl.read_parquet(path)
            assert found["row"].to_list() == list(range(40))
            assert found["sdp"].to_list() == pytest.approx([one.best_set.sdp for one in told])
    # The work waits until it is cancelled, so that it cannot be finished before.
    cancelled, cancel, step = threading.Event(), Job.cancel, Job.step
    monkeypatch.setattr(Job, "cancel", lambda job: (cancel(job), cancelled.set()))
    monkeypatch.setattr(Job, "step", lambda job, done: (cancelled.wait(WAIT / 1000), step(job, done)))
    page.fill("#n-most", "569")
    page.click("#explain")
    page.wait_for_selector("#many-progress .progress")
    page.click("#cancel")
    page.wait_for_function("() => document.querySelector('#many-progress').innerText === 'Cancelled.'")


def test_global_rules_are_listed_searched_simplified_and_saved(open_app, cancer, tmp_path):
    app = open_app(cancer)
    page = app.open("#rules-tiles .tile", tab="rules", row=3)
    full = find_rules(cancer, View(), 500, Job("", 500))
    model = full.simplify(0.01)
    assert app.text("#rules-tiles .tile .large") == str(len(model.rules_))
    page.wait_for_selector("#rule-grid .ag-row")
    row = cancer.row_of(View(row=3))
    covering = [i for i, line in enumerate(model.rules_) if line.rule.covers(row)[0]]
    assert model.decision_path(row)[0] == covering[0]
    assert app.text("#decided").startswith(f"Row 3: rule {covering[0] + 1} decides; {len(covering) - 1} other")
    assert page.locator("#rules-decide li").count() == len(covering)
    # A word in some of the rules, but not in more than the grid has room for.
    words = sorted({word for name in cancer.names for word in name.split()})
    n_with = {word: sum(word in line.text for line in model.rules_) for word in words}
    word, n = next((word, n) for word, n in n_with.items() if 0 < n < min(10, len(model.rules_)))
    page.fill("#rules-search", word)
    page.wait_for_function(
        """([word, n]) => {
          const rows = [...document.querySelectorAll('#rule-grid .ag-center-cols-container .ag-row')];
          return rows.length === n && rows.every(row => row.innerText.includes(word));
        }""",
        arg=[word, n],
    )
    page.fill("#rules-search", "")
    for kind, expected in (("sql", model.to_sql()), ("json", rules_json(model)), ("txt", str(model))):
        with page.expect_download() as caught:
            page.click(f"#rules-{kind}")
        caught.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_text(encoding="utf-8") == expected + "\n"
    page.locator("#tolerance [role=slider]").focus()
    page.keyboard.press("Home")
    app.wait_for_text("#rules-tiles .tile .large", str(len(full.rules_)))
    page.click("text=One row")
    page.wait_for_selector("#pane-row:not([hidden]) #outcome")
    page.click("#scheme-toggle")
    page.wait_for_selector("html[data-mantine-color-scheme='dark']")


def test_a_table_is_opened_fitted_and_explained(open_app, tmp_path):
    app = open_app()
    page = app.open_start()
    mixed_table(300).write_csv(tmp_path / "traffic.csv")
    page.set_input_files("#upload input", str(tmp_path / "traffic.csv"))
    page.wait_for_selector("#preview .ag-row")
    assert page.input_value("#target") == "traffic"
    page.click("#fit")
    page.wait_for_selector("#outcome")
    assert "300 rows · 4 variables · traffic" in app.text("header")
    assert "data=" in page.evaluate("window.location.search")
    page.goto(f"{app.root}?data=0123456789abcdef")
    app.wait_for_text("#start-message", "no longer here")


def test_hostile_uploads_are_harmless(open_app, tmp_path):
    app = open_app()
    page = app.open_start()
    for name in ("empty.csv", "bomb.csv", "nul.csv", "broken.parquet"):
        (tmp_path / name).write_bytes(BAD_FILES[name][0])
        page.set_input_files("#upload input", str(tmp_path / name))
        app.wait_for_text("#start-message", BAD_FILES[name][1])
    rng = np.random.default_rng(0)
    wide = pl.DataFrame({f"v{i}": rng.normal(size=150).round(3) for i in range(199)})
    is_high = (wide["v0"] > 0).to_numpy()
    wide = wide.rename({"v0": HOSTILE, "v1": "<img src=x onerror=alert(2)>"})
    wide = wide.with_columns(pl.Series("kind", np.where(is_high, HOSTILE, "b & c")))
    wide.write_csv(tmp_path / "wide.csv")
    page.set_input_files("#upload input", str(tmp_path / "wide.csv"))
    app.wait_for_text("#choose", "150 rows, 200 columns")
    page.click("#fit")
    page.wait_for_selector("#outcome")
    assert app.text("#outcome") in (HOSTILE, "b & c")
    assert HOSTILE in app.text("#values")
    page.wait_for_selector("#boxes .js-plotly-plot")
    page.click("text=Global rules")
    page.wait_for_selector("#rules-tiles .tile")
    assert page.locator("main script").count() == 0
    assert page.locator("main img").count() == 0
