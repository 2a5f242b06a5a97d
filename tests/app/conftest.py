import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
from app_client import Client, replace_processes, traffic_table
from rare_classes import rare_explainer, rare_table

from suffice import SufficientExplainer
from suffice.app.server import make_app
from suffice.app.serving import serve_in_thread
from suffice.app.state.sessions import Sessions, demo_workspace, fit_workspace
from suffice.app.state.workspace import Workspace

DATA = os.environ.get("SUFFICE_DATA")


@pytest.fixture
def own_processes():
    """Requested by tests that need the processes of the app: the work of all others is done in this process."""


@pytest.fixture(autouse=True)
def _work_here(request, monkeypatch):
    """Do the work of the app's processes in this one: to start a process takes seconds."""
    if "own_processes" not in request.fixturenames:
        replace_processes(monkeypatch.setattr)


@pytest.fixture(scope="session")
def fit_here():
    """Fit a workspace in this process."""

    def fit(frame, target, *, has_dates=False, name="", make=fit_workspace):
        with pytest.MonkeyPatch.context() as patch:
            replace_processes(patch.setattr)
            return make(frame, target, [], has_dates, name)

    return fit


@pytest.fixture(scope="session")
def mixed(fit_here):
    """Classes, explained by columns of every kind."""
    return fit_here(traffic_table(400), "traffic", name="traffic")


@pytest.fixture(scope="session")
def cancer(fit_here):
    """Classes, explained by thirty numbers."""
    return fit_here(None, None, make=lambda *_: demo_workspace(0))


@pytest.fixture(scope="session")
def diabetes(fit_here):
    """Numbers, explained by ten numbers."""
    return fit_here(None, None, make=lambda *_: demo_workspace(1))


@pytest.fixture(scope="session")
def days(fit_here):
    """A date as a variable."""
    days = pl.date_range(pl.date(2023, 1, 1), pl.date(2023, 12, 31), eager=True)
    frame = pl.DataFrame({"day": days, "x": np.arange(365) % 7}).with_columns(kind=days.dt.weekday() > 5)
    return fit_here(frame, "kind", has_dates=True, name="days")


@pytest.fixture(scope="session")
def rare():
    """A class of few rows."""
    X, y = rare_table()
    return Workspace.of(rare_explainer(), X, y, "rare")


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def served(browser):
    """One server and one browser profile for all tests, so that scripts are loaded once."""
    sessions = Sessions()
    address, server = serve_in_thread(make_app(sessions), 0)
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light", accept_downloads=True)
    page = context.new_page()
    page.goto(address)  # gets the cookie
    page.close()
    yield context, server.root, sessions
    context.close()
    server.shutdown()


@pytest.fixture
def open_app(served):
    """Open pages of the app in the browser, and check at the end that nothing went wrong on them."""
    opened = []

    def open_it(workspace=None):
        opened.append(Client(*served, workspace))
        return opened[-1]

    yield open_it
    for client in opened:
        client.close()
