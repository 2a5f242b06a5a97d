import os

import numpy as np
import pandas as pd
import pytest
from app_client import Client, traffic_table

from suffice import SufficientExplainer
from suffice.app.server import make_app
from suffice.app.serving import serve_in_thread
from suffice.app.state.desk import Desk
from suffice.app.state.opening import demo_workspace, fit_workspace
from suffice.app.state.workspace import Workspace

DATA = os.environ.get("SUFFICE_DATA")


@pytest.fixture(scope="session")
def mixed():
    """Classes, explained by columns of every kind."""
    return fit_workspace(traffic_table(400), "traffic", [], False, "traffic")


@pytest.fixture(scope="session")
def cancer():
    """Classes, explained by thirty numbers."""
    return demo_workspace(0)


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
    desk = Desk()
    address, server = serve_in_thread(make_app(desk), 0)
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light", accept_downloads=True)
    page = context.new_page()
    page.goto(address)  # gets the cookie
    page.close()
    yield context, server.root, desk
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
