"""Which rows the trees count, and the gate: no set is sufficient where the variables say nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from oracle import rows_out_of_bag
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer
from suffice._forest.fitting import decide_counts, measure_fidelity
from suffice.errors import CountsWarning, FidelityWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
LABELS = (X[:, 0] > 0).astype(int)
DRAWS_ALL = [ExtraTreesClassifier(5), ExtraTreesRegressor(5), RandomForestClassifier(5, bootstrap=False)]
NO_ROWS = (
    r"^Each tree of `forest` draws all rows, so the rows that grew it are counted and probabilities come out too "
    r"high\. Set `bootstrap=True` to count the rows out of bag, or `counts='bootstrap'` to accept this\.$"
)

# --- counts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("forest", [None, RandomForestRegressor(), ExtraTreesClassifier(bootstrap=True)])
def test_rows_out_of_bag_are_counted_unless_the_user_says_otherwise(forest):
    assert decide_counts("auto", forest) == "out-of-bag"
    assert decide_counts("out-of-bag", forest) == "out-of-bag"
    assert decide_counts("bootstrap", forest) == "bootstrap"
    assert decide_counts("all", forest) == "all"


@pytest.mark.parametrize("forest", DRAWS_ALL, ids=str)
def test_a_forest_without_rows_out_of_bag_counts_its_own_with_a_warning(forest):
    with pytest.warns(CountsWarning, match=NO_ROWS):
        assert decide_counts("auto", forest) == "bootstrap"
    assert decide_counts("bootstrap", forest) == "bootstrap"
    assert decide_counts("all", forest) == "all"
    message = (
        r"^`counts='out-of-bag'` needs a forest with `bootstrap=True`: each tree of this one draws all rows, so that "
        r"none is left to count\. Set `bootstrap=True`, or take `counts='bootstrap'`\.$"
    )
    with pytest.raises(ValueError, match=message):
        decide_counts("out-of-bag", forest)


def test_the_warning_names_the_callers_line_and_the_counts_are_reported():
    forest = ExtraTreesClassifier(5, random_state=0)
    with pytest.warns(CountsWarning, match=NO_ROWS) as caught:
        explainer = SufficientExplainer(forest).fit(X, LABELS)
    assert [warning.filename for warning in caught] == [__file__]
    assert explainer.fitted_.counts == explainer.describe()["settings"]["counts"] == "bootstrap"
    accepted = SufficientExplainer(forest, counts="bootstrap").fit(X, LABELS)
    assert list(accepted.explain(X[:5])) == list(explainer.explain(X[:5]))


def test_the_empty_set_has_the_shares_of_the_rows_out_of_bag():
    explainer = SufficientExplainer(RandomForestClassifier(6, random_state=0)).fit(X, LABELS)
    out = [LABELS[sorted(set(range(200)) - set(drawn.tolist()))] for drawn in explainer.forest_.estimators_samples_]
    np.testing.assert_allclose(explainer.predict_proba(X[:1], [])[0, 1], np.mean([rows.mean() for rows in out]))


# --- the gate --------------------------------------------------------------------------------------------------------

NOTHING = "The variables say nothing about the outcomes: on rows out of bag the forest"


def null_table(kind, seed, n_rows=400):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n_rows, 4))
    return table, rng.normal(size=n_rows) if kind == "numbers" else (rng.random(n_rows) < kind).astype(int)


def explain_null(kind, seed, **options):
    table, y = null_table(kind, seed)
    forest = (RandomForestRegressor if kind == "numbers" else RandomForestClassifier)(
        30, min_samples_leaf=10, random_state=seed
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        explainer = SufficientExplainer(forest, **options).fit(table, y)
    texts = [str(w.message) for w in caught if issubclass(w.category, FidelityWarning)]
    return explainer, explainer.explain(table[:60], rules=None), texts


@pytest.mark.parametrize("kind", [0.5, 0.7, 0.85, 0.95, "numbers"])
def test_where_the_variables_say_nothing_no_set_of_them_is_sufficient(kind):
    n_gated = 0
    for seed in range(4):
        explainer, explanations, texts = explain_null(kind, seed)
        assert explainer.describe()["has_signal"] == explainer.fitted_.has_signal
        if explainer.fitted_.has_signal:
            continue
        n_gated += 1
        [text] = texts
        constant = "the mean" if kind == "numbers" else "the shares of the classes"
        assert text.startswith(NOTHING)
        assert f"is no better than {constant}. No set of variables is called sufficient" in text
        for e in explanations:
            assert e.best_set.variables == ()
            # The empty set is sufficient if the outcome is that frequent.
            assert e.is_sufficient == (e.best_set.sdp >= explainer.pi_ - 1e-9)
            assert [s.variables for s in e.sufficient_sets] == [()] * e.is_sufficient
            assert e.is_search_complete
        if kind == 0.95:
            assert any(e.is_sufficient for e in explanations)
    assert n_gated >= 3  # two standard errors are passed by chance once in 40 tables


@pytest.mark.parametrize("kind", [0.85, 0.95, "numbers"])
def test_without_the_empty_set_there_is_none_where_the_variables_say_nothing(kind):
    explainer, explanations, _ = explain_null(kind, 0, min_size=1)
    assert not explainer.fitted_.has_signal
    assert not any(e.is_sufficient for e in explanations)
    assert all(e.best_set.variables == () for e in explanations)
    table, _ = null_table(kind, 0)
    low = explainer.with_settings(min_size=0, pi=0.1).explain(table[:10], rules=None)
    assert {s.variables for e in low for s in e.sufficient_sets} == {()}


@pytest.mark.parametrize("counts", ["bootstrap", "all"])
def test_rows_that_grew_the_trees_have_no_gate(counts):
    explainer, explanations, texts = explain_null(0.85, 0, counts=counts, min_size=1)
    assert explainer.fitted_.has_signal
    assert not any(text.startswith(NOTHING) for text in texts)
    assert any(e.is_sufficient for e in explanations)  # claims that are not true


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_strong_tables_pass_the_gate(kind):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(400, 4))
    y = 3 * table[:, 0] + rng.normal(size=400)
    explainer = SufficientExplainer(random_state=0).fit(table, y > 0 if kind == "classes" else y)
    assert explainer.fitted_.has_signal
    sets = {s.variables for e in explainer.explain(table, rules=None) for s in e.sufficient_sets}
    assert ("x0",) in sets


@pytest.mark.filterwarnings("ignore::suffice.errors.FidelityWarning")
def test_the_signal_is_a_gain_of_two_standard_errors():
    """Computed again from the definition, on tables around the border."""
    near = set()
    for noise in (1.5, 2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.8, 3.0, 12.0):
        y = X[:, 0] + noise * np.random.default_rng(1).normal(size=200)
        for outcomes, kind in ((y, RandomForestRegressor), ((y > 0).astype(int), RandomForestClassifier)):
            forest = kind(25, min_samples_leaf=5, random_state=0).fit(X.astype(np.float32), outcomes)
            fitted = SufficientExplainer(forest, counts="bootstrap").fit(X, outcomes).fitted_
            is_out = rows_out_of_bag(forest, 200)
            predictions, is_known = fitted.forest.predict_out_of_bag(is_out, 1)
            votes = np.where(is_known[:, None], predictions, np.nan)
            fidelity = measure_fidelity(fitted.forest, votes, fitted.task)
            observed = outcomes[is_known, None] if fitted.task == "regression" else np.eye(2)[outcomes[is_known]]
            errors = ((observed - predictions[is_known]) ** 2).sum(axis=1)
            gain = ((observed - observed.mean(axis=0)) ** 2).sum(axis=1) - errors
            n_errors = gain.mean() / gain.std() * np.sqrt(len(gain))
            assert fidelity.has_signal == (n_errors > 2)
            near.add(float(np.floor(2 * n_errors) / 2))
    assert {1.5, 2.0} <= near  # some of them lie within half a standard error of the border, on either side
