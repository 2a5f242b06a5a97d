"""scikit-learn's own checks of estimators: all pass, so none is listed as an expected failure."""

from __future__ import annotations

import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import SufficientExplainer

SMALL = {"n_estimators": 10, "random_state": 0}
OTHERS = [
    SufficientExplainer(n_jobs=1),
    SufficientExplainer(ExtraTreesRegressor(**SMALL), counts="bootstrap"),  # its trees draw all rows
    SufficientExplainer(ExtraTreesRegressor(**SMALL, bootstrap=True)),
    SufficientExplainer(RandomForestClassifier(**SMALL), task="classification"),
    SufficientExplainer(RandomForestRegressor(**SMALL), task="regression"),
]
pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.FidelityWarning")  # the checks fit noise


@parametrize_with_checks([SufficientExplainer(RandomForestClassifier(**SMALL), n_jobs=1)])
def test_scikit_learn_finds_no_fault(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS)
def test_scikit_learn_finds_no_fault_with_other_settings(estimator, check):
    check(estimator)
