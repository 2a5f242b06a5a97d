"""Ten rows, boxes on them, and lists of rules made of boxes."""

from __future__ import annotations

import math

import numpy as np

from suffice.explaining.rule import Condition, Rule
from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor

SMALL = {"n_estimators": 10, "min_samples_leaf": 5, "random_state": 0}
INF = math.inf
# Ten rows, x0 = 0, ..., 9.
X = np.arange(10.0)[:, None]
Y = np.array(list("aaabbbbabb"))
NUMBERS = np.array([1.0, 1, 1, 4, 6, 4, 6, 9, 1, 2])


def box(low=-INF, high=INF, column="x0", sdp=0.9, **condition):
    """A local rule; its outcome does not matter here."""
    conditions = () if (low, high, condition) == (-INF, INF, {}) else (Condition(column, low, high, **condition),)
    return Rule(conditions, "?", None, sdp, 1, 0.1, 1.0, None, True, 1.0, False)


LEFT = box(high=2.5)  # a a a
MIDDLE = box(2.5, 6.5)  # b b b b
RIGHT = box(4.5)  # b b a b b
MIXED = box(high=3.5)  # a a a b
ALL_FOUR = [RIGHT, None, MIXED, LEFT, MIDDLE, LEFT]


def classifier(rules, X=X, y=Y, **params):
    """The list of all rules; tests of short lists name `max_rules`."""
    return GlobalRulesClassifier.from_explanations(rules, X, y, **{"max_rules": None, **params})


def regressor(rules, X=X, y=NUMBERS, **params):
    return GlobalRulesRegressor.from_explanations(rules, X, y, **{"max_rules": None, "min_support": 1, **params})


def boxes(rule_list):
    return [line.rule for line in rule_list.rules_]


def quality(rule_list, X, y):
    """Coverage and precision on a table, by the definition."""
    is_covered = rule_list.covered(X)
    predicted = rule_list.predict(X)[is_covered]
    if isinstance(rule_list, GlobalRulesClassifier):
        return is_covered.mean(), np.mean(predicted == y[is_covered])
    return is_covered.mean(), 1 - np.mean((predicted.astype(float) - y[is_covered]) ** 2) / y.var()


def random_rules(rng, n_rules, X, missing=False):
    """Boxes on two columns each, with ends drawn from the data."""
    rules = []
    for _ in range(n_rules):
        columns = np.sort(rng.choice(X.shape[1], 2, replace=False))
        ends = [np.sort(rng.choice(X[~np.isnan(X[:, c]), c], 2, replace=False)) for c in columns]
        conditions = tuple(
            Condition(f"x{c}", low, high, low_closed=True, missing=missing and bool(rng.integers(2)))
            for c, (low, high) in zip(columns, ends, strict=True)
        )
        rules.append(Rule(conditions, "?", None, 0.9, 1, 0.1, 1.0, None, True, 1.0, False))
    return rules
