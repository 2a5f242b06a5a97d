import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from missing_programs import NO_CHROMIUM, lines_about
from mixed_table import CASES, make_case, make_table
from rentals import BUSY, as_pandas, explainer_for
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from small_explainers import CLASSES, NUMBERS, X, classifier, regressor

from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer, _core

# Doctests are collected from modules, and modules of one name cannot be imported twice.
collect_ignore_glob = ["*conftest.py"]

# Everywhere else each run draws new examples; in continuous integration a failure must be repeatable.
# A busy machine is no failure: there are no deadlines.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("anywhere", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "anywhere")


# What is in these folders tests no single module of the package, and takes minutes.
SLOW_FOLDERS = {"benchmarks", "experiments", "fuzz"}


def pytest_ignore_collect(collection_path, config):
    """Do not even import these folders where slow tests are left out: it takes seconds in every process."""
    is_slow = collection_path.is_dir() and collection_path.name in SLOW_FOLDERS
    return True if is_slow and config.getoption("markexpr") == "not slow" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the tests of some folders as slow, before slow tests are left out."""
    for item in items:
        if SLOW_FOLDERS & set(item.path.relative_to(item.config.rootpath).parts):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    """Say at the end, after the list of all skipped tests, which programs were missing and how to install them."""
    yield
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())]
    for line in lines_about(reasons):
        terminalreporter.write_line(line, yellow=True)


@pytest.fixture(params=_core.kernel_names())
def kernels(request):
    """Run the test with every build of the hot loops that this processor can run."""
    _core.use_kernels(name=request.param)
    yield request.param
    _core.use_kernels(name=_core.kernel_names()[0])


@pytest.fixture(scope="module")
def table():
    """A table with a column of every kind. Modules with a table of their own override this fixture."""
    return make_table()


@pytest.fixture(scope="module", params=CASES)
def case(table, request):
    """An explainer of each task, with the lines that it gives for the table."""
    return make_case(table, *CASES[request.param])


@pytest.fixture(scope="module")
def labels(table):
    """The explainer of the table's labels alone, where one task is enough."""
    return make_case(table, *CASES["labels"])


@pytest.fixture(scope="module")
def of_classes():
    return classifier().fit(X, CLASSES)


@pytest.fixture(scope="module")
def of_numbers():
    return regressor().fit(X, NUMBERS)


@pytest.fixture(scope="module", params=["of_classes", "of_numbers"])
def explainer(request):
    """The explainers of classes and of numbers; a module that overrides these gets its own."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def of_rentals():
    """The explainer of whether many bicycles are rented."""
    return explainer_for().fit(as_pandas(), BUSY)


@pytest.fixture(scope="module")
def busy_table():
    """A frame of 120 rows with classes and numbers that two of its columns make."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=["hour", "temp", "noise"])
    busy = (frame["hour"] > 0) & (frame["temp"] > -0.5)
    labels = np.where(busy, "busy", "calm")
    numbers = pd.Series(10.0 * busy + rng.normal(size=120), name="count")
    return frame, labels, numbers


@pytest.fixture(scope="module")
def busy_lists(busy_table):
    frame, labels, numbers = busy_table
    trees = {"n_estimators": 20, "min_samples_leaf": 5, "random_state": 0}
    # Few rows are out of bag; the counts of the paper find rules for most rows.
    of_labels, of_numbers = (
        SufficientExplainer(forest(**trees), counts="bootstrap", min_size=1)
        for forest in (RandomForestClassifier, RandomForestRegressor)
    )
    return (
        GlobalRulesClassifier(of_labels, max_rules=None).fit(frame, labels),
        GlobalRulesRegressor(of_numbers, max_rules=None).fit(frame, numbers),
    )


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    """The files of the module's fixture `folder`, in a folder of the test's own."""
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def browser():
    """Run the system's Chromium or Playwright's own, without a window. No page may use the network."""
    from playwright.sync_api import sync_playwright

    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chromium-browser") or playwright.chromium.executable_path
        if not Path(path).exists():
            if os.environ.get("CI"):
                pytest.fail(NO_CHROMIUM)
            pytest.skip(NO_CHROMIUM)
        chromium = playwright.chromium.launch(executable_path=path, args=quiet)
        yield chromium
        chromium.close()
