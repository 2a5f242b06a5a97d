import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from suffice import GlobalRulesClassifier, SufficientExplainer
from suffice._forest.giveaways import find_giveaways
from suffice.errors import GiveawayWarning

pytestmark = pytest.mark.filterwarnings("error")
RNG = np.random.default_rng(0)
N = 400
X = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["age", "debt", "income"])
LABELS = np.where(X["age"] + X["debt"] + RNG.normal(0, 0.3, N) > 0, "no", "yes")
NUMBERS = (X["age"] * 3 + X["debt"] ** 2).to_numpy()
SETTINGS = {"random_state": 0, "n_jobs": 1}


def fit(table, y):
    return SufficientExplainer(**SETTINGS).fit(table, y)


@pytest.mark.parametrize(
    ("make_leak", "name"),
    [
        (lambda: np.where(LABELS == "yes", "closed", "open"), "text"),
        (lambda: np.where(LABELS == "yes", 1.0, 0.0) * 9 + RNG.random(N), "number"),
        (lambda: np.where(LABELS == "yes", np.nan, RNG.random(N)), "missing"),
    ],
)
def test_a_column_that_gives_a_class_away_is_named(make_leak, name):
    message = rf"^One column alone is enough to predict 'y' nearly without error: '{name}' \(accuracy 1\.000\)\. It may"
    with pytest.warns(GiveawayWarning, match=f"{message} be the outcome under another name, or be known only after"):
        fit(X.assign(**{name: make_leak()}), LABELS)


def test_columns_that_give_a_number_away_are_named():
    leaky = X.assign(total=NUMBERS * 2 + 1, cents=(100 * NUMBERS).round())
    message = r"'(total|cents)' \(R2 1\.000\) and '(total|cents)' \(R2 1\.000\)\. Each may be the outcome"
    with pytest.warns(GiveawayWarning, match=message):
        fit(leaky, NUMBERS)


def test_a_strong_column_is_not_named():
    """An accuracy of 0.97 or an R2 of 0.99 is what good variables have."""
    near = np.where(RNG.random(N) < 0.03, "no", LABELS)
    fit(X.assign(near=near), LABELS)
    fit(X.assign(empty=np.full(N, np.nan)), NUMBERS)
    fit(X.assign(near=NUMBERS + RNG.normal(0, 0.1 * NUMBERS.std(), N)), NUMBERS)


def test_a_rare_class_needs_more_than_a_high_accuracy():
    """With 2 rare rows in 400, a tree that never says so is right for 0.99 of the rows."""
    is_rare = np.arange(N) % 300 == 0
    often = X.assign(near=is_rare + RNG.normal(0, 0.5, N))
    explainer = SufficientExplainer(**SETTINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer.fit(often, is_rare)
    assert find_giveaways(explainer.fitted_) == []


def test_the_tables_of_scikit_learn_have_no_giveaways():
    for load in (load_breast_cancer, load_wine, load_diabetes):
        table, y = load(return_X_y=True, as_frame=True)
        fit(table, y)


def test_a_model_may_use_one_column():
    SufficientExplainer.for_model(lambda table: table["age"] > 0, X, **SETTINGS)
    with pytest.warns(GiveawayWarning, match="'age'"):
        fit(X, X["age"] > 0)


def test_lists_of_rules_and_holdouts_warn_too():
    leaky = X.assign(leak=LABELS == "yes")
    with pytest.warns(GiveawayWarning, match="'leak'"):
        GlobalRulesClassifier(SufficientExplainer(**SETTINGS)).fit(leaky, LABELS)
    with pytest.warns(GiveawayWarning, match="'leak'"):
        SufficientExplainer(**SETTINGS).fit(leaky, LABELS, holdout=0.3)


def test_the_check_costs_little():
    table = pd.DataFrame(RNG.normal(size=(8_000, 8))).add_prefix("c")
    begin = time.process_time()  # other processes take time, too
    with pytest.warns(GiveawayWarning):
        explainer = fit(table, table["c0"] > 0)
    fitted = time.process_time()
    find_giveaways(explainer.fitted_)
    assert time.process_time() - fitted < 0.1 * (fitted - begin)
