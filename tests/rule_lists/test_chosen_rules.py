"""The choice of a sum of rules, against docs/method.md, 6.2, as slow code that fits every sum anew."""

from __future__ import annotations

import math
import warnings
from itertools import combinations

import numpy as np
import pytest
from rule_boxes import classifier, random_rules, regressor

from suffice import GlobalRulesClassifier, GlobalRulesRegressor
from suffice.rule_lists import choosing
from suffice.rule_lists.choosing import Candidates, Choice
from suffice.rule_lists.measures import Labels, Numbers

RIDGE = 10.0


def fit_slowly(covers, targets, chosen):
    """The objective of a set of rules, and what they add."""
    Y = targets - targets.mean(axis=0)
    Z = (covers[chosen] - covers[chosen].mean(axis=1, keepdims=True)).T
    w = np.linalg.solve(Z.T @ Z + RIDGE * np.eye(len(chosen)), Z.T @ Y) if chosen else np.zeros((0, Y.shape[1]))
    return ((Y - Z @ w) ** 2).sum() + RIDGE * (w**2).sum(), w


def aims_of(covers, targets):
    """For each rule the class whose share in it exceeds the share among all rows most, or the sign for numbers."""
    sums = np.array([(targets[c] - targets.mean(axis=0)).sum(axis=0) for c in covers])
    return np.sign(sums) if targets.shape[1] == 1 else np.eye(targets.shape[1])[sums.argmax(axis=1)]


def choose_slowly(covers, n_conditions, targets, max_rules):
    """Fit a sum with each rule that is left, and take the first of those that gain most."""
    n_rules, n_rows = covers.shape
    aims = aims_of(covers, targets)
    whole = fit_slowly(covers, targets, [])[0]
    chosen, gains = [], []
    while len(chosen) < max_rules:
        before, _ = fit_slowly(covers, targets, chosen)
        best = None
        for j in range(n_rules):
            if j in chosen:
                continue
            after, w = fit_slowly(covers, targets, [*chosen, j])
            gain = (before - after) / (1 + 0.1 * (n_conditions[j] - 1))
            if (w[-1] * aims[j]).sum() > 1e-12 and (best is None or gain > best[0] + 1e-9 * whole):
                best = gain, j, before - after
        if best is None or best[2] <= before * math.log(n_rules) / n_rows:
            break
        chosen.append(best[1])
        gains.append(best[2] / whole)
    return chosen, gains


def draw(rng, n_rules, n_rows, n_classes):
    covers = rng.random((n_rules, n_rows)) < rng.choice([0.1, 0.3, 0.6], size=(n_rules, 1))
    covers[-1] = covers[1]  # a tie
    covers[-2] = ~covers[0]  # the opposite
    covers[6] = covers[2] & (rng.random(n_rows) < 0.6)  # for more than average, but it would be subtracted
    score = 2.0 * covers[2] - 1.2 * covers[6] - 1.5 * covers[3] + covers[4] * covers[5] + rng.normal(size=n_rows)
    if n_classes == 1:
        targets = 10 + 5 * score[:, None]
    else:
        ends = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
        targets = np.eye(n_classes)[np.searchsorted(ends, score)]
    return covers, rng.integers(1, 4, size=n_rules), targets


def candidates_of(covers, n_conditions, targets):
    Y = targets - targets.mean(axis=0)
    return Candidates(
        targets=Y,
        packed_covers=np.packbits(covers, axis=1),
        n_covered=covers.sum(axis=1),
        n_conditions=n_conditions,
        products=covers @ Y,
        aims=aims_of(covers, targets),
        ends=[(i,) for i in range(len(covers))],
        sources=list(range(len(covers))),
    )


@pytest.mark.parametrize("block", [3, 256])
@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_rules_are_chosen_as_the_slow_choice_does(seed, n_classes, block, monkeypatch):
    monkeypatch.setattr(choosing, "BLOCK", block)
    rng = np.random.default_rng(seed)
    covers, n_conditions, targets = draw(rng, 12, int(rng.integers(60, 300)), n_classes)
    for max_rules in (1, 3, 12):
        slow, gains = choose_slowly(covers, n_conditions, targets, max_rules)
        choice = candidates_of(covers, n_conditions, targets).choose(max_rules)
        assert choice.rules.tolist() == slow
        assert choice.gains.tolist() == pytest.approx(gains)
    assert slow


@pytest.mark.parametrize("seed", range(10))
def test_the_choice_is_near_the_best_of_all_sets_of_rules(seed):
    """All sets of three of 12 rules: the greedy choice removes at least 90 % of the error that the best set removes."""
    rng = np.random.default_rng(seed)
    covers, _, targets = draw(rng, 12, 300, 1)
    whole = fit_slowly(covers, targets, [])[0]
    best = min(fit_slowly(covers, targets, list(chosen))[0] for chosen in combinations(range(12), 3))
    choice = candidates_of(covers, np.ones(12, dtype=int), targets).choose(3)
    reached = fit_slowly(covers, targets, choice.rules.tolist())[0]
    assert best - 1e-9 <= reached
    assert whole - reached >= 0.9 * (whole - best)


@pytest.mark.parametrize("kind", [GlobalRulesClassifier, GlobalRulesRegressor])
def test_noise_gets_no_rule(kind):
    rng = np.random.default_rng(0)
    for _ in range(5):
        table, y = rng.normal(size=(400, 5)), rng.integers(0, 2, size=400)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert len(kind(random_state=0).fit(table, y).rules_) == 0


def test_a_second_condition_must_gain_more():
    rng = np.random.default_rng(0)
    covers = np.zeros((2, 400), dtype=bool)
    covers[0, :100] = covers[1, :98] = True
    targets = np.where(covers[1], 5.0, 0.0)[:, None] + rng.normal(size=(400, 1))
    for n_conditions, first in (([1, 1], 1), ([1, 3], 0)):
        choice = candidates_of(covers, np.array(n_conditions), targets).choose(1)
        assert choice.rules.tolist() == [first]


def make_table(n=600):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(n, 4))
    return random_rules(rng, 30, table), table, table[:, 0] + 0.5 * table[:, 1] + rng.normal(size=n) / 2


@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_a_list_adds_up_what_its_rules_add(kind):
    rules, table, y = make_table()
    labels = np.where(y > 0.8, "high", np.where(y > -0.5, "middle", "low"))
    make, y = (classifier, labels) if kind == "labels" else (regressor, y)
    rule_list = make(rules, X=table, y=y, max_rules=6)
    assert len(rule_list.rules_) == 6
    covers = np.array([line.rule.covers(table) for line in rule_list.rules_])
    targets = rule_list.lines_.task.targets
    _, adds = fit_slowly(covers, targets, list(range(6)))
    additions = rule_list.lines_.additions
    assert additions.of_rules == pytest.approx(adds, abs=6e-4)
    assert additions.of_rules.tolist() == np.round(additions.of_rules, 4).tolist()
    is_covered = covers.any(axis=0)
    scores = additions.base + covers.T @ additions.of_rules
    scores[~is_covered] = additions.otherwise
    assert is_covered.sum() > 0
    left = targets[~is_covered]
    assert additions.otherwise == pytest.approx(
        (left.sum(axis=0) + RIDGE * additions.base) / (len(left) + RIDGE), abs=6e-4
    )
    # Without the default, the mean prediction is the mean outcome.
    assert (additions.base + covers.T @ additions.of_rules).mean(axis=0) == pytest.approx(
        targets.mean(axis=0), abs=1e-3
    )
    if kind == "labels":
        assert rule_list.predict(table).tolist() == rule_list.classes_[scores.argmax(axis=1)].tolist()
        shares = np.maximum(scores, 0)
        assert rule_list.predict_proba(table) == pytest.approx(shares / shares.sum(axis=1, keepdims=True))
        for line, added in zip(rule_list.rules_, additions.of_rules, strict=True):
            assert list(line.adds) == rule_list.classes_.tolist()
            assert list(line.adds.values()) == added.tolist()
            assert line.adds[line.output] >= 0
    else:
        assert rule_list.predict(table) == pytest.approx(scores[:, 0])
        means = np.array([y[c].mean() - y.mean() for c in covers])
        assert (means * additions.of_rules[:, 0] >= 0).all()
    assert rule_list.decision_path(table)[is_covered].tolist() == [
        max(np.flatnonzero(c), key=lambda i: np.abs(additions.of_rules[i]).max()) for c in covers.T[is_covered]
    ]


def test_a_rule_that_would_lower_what_it_is_for_is_left_out():
    rng = np.random.default_rng(0)
    covers = np.zeros((3, 400), dtype=bool)
    covers[0, :200] = covers[1, 60:200] = covers[2, 300:350] = True
    targets = (10.0 * covers[0] - 4.0 * covers[1] + 5 * covers[2] + rng.normal(size=400))[:, None]
    aims = aims_of(covers, targets)
    assert aims.ravel().tolist() == [1, 1, 1]  # the second, too: its rows are above the mean
    kept, adds = choosing._fit_additions(covers, Numbers.of_training(targets[:, 0]), aims)
    assert kept == [0, 2]
    assert adds == pytest.approx(fit_slowly(covers, targets, [0, 2])[1], abs=6e-4)


def test_a_rule_that_adds_nothing_after_rounding_is_left_out():
    covers = np.zeros((2, 200_000), dtype=bool)
    covers[0, :50_000] = covers[1, 50_000:150_000] = True
    y = np.where(covers[0] ^ (np.arange(200_000) % 10 == 0), "a", "b")
    y[50_000] = "b"  # a little more of b
    kept, adds = choosing._fit_additions(covers, Labels.of_training(y), np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert kept == [0]
    assert adds.tolist() == [[pytest.approx(0.8, abs=5e-3), pytest.approx(-0.8, abs=5e-3)]]


def test_many_rows_are_drawn_for_the_choice_and_all_determine_the_additions(monkeypatch):
    rules, table, y = make_table(2000)
    monkeypatch.setattr(choosing, "MAX_ROWS", 500)
    rule_list = regressor(rules, X=table, y=y, max_rules=4)
    covers = np.array([line.rule.covers(table) for line in rule_list.rules_])
    assert [line.support for line in rule_list.rules_] == covers.sum(axis=1).tolist()
    assert rule_list.lines_.additions.of_rules == pytest.approx(
        fit_slowly(covers, y[:, None], [0, 1, 2, 3])[1], abs=6e-4
    )


def test_rules_keep_the_least_support_and_precision():
    rules, table, y = make_table()
    labels = np.where(y > 0.5, "high", "low")
    for line in classifier(rules, X=table, y=labels, max_rules=8, min_support=60, min_precision=0.8).rules_:
        assert line.support >= 60
        assert line.precision >= 0.8
    loose = regressor(rules, X=table, y=y, max_rules=8)
    strict = regressor(rules, X=table, y=y, max_rules=8, min_precision=0.3)
    assert min(line.precision for line in strict.rules_) >= 0.3 > min(line.precision for line in loose.rules_)


@pytest.mark.parametrize("y", [np.zeros(30), np.ones(30)])
def test_equal_numbers_need_no_rule(y):
    table = np.arange(30.0)[:, None]
    table = np.hstack([table, table])
    rule_list = regressor(random_rules(np.random.default_rng(0), 5, table), X=table, y=y, max_rules=5)
    assert rule_list.rules_ == ()
    assert rule_list.predict(table).tolist() == y.tolist()


def test_without_rules_none_are_chosen():
    rule_list = classifier([], max_rules=5)
    assert rule_list.rules_ == ()
    assert rule_list.predict_proba([[0.0]]).tolist() == [[0.4, 0.6]]


def test_the_last_rules_go_while_little_is_lost():
    choice = Choice(np.array([5, 2, 7, 1]), np.array([0.5, 0.2, 0.02, 0.01]))
    assert choice.within(0.0).rules.tolist() == [5, 2, 7, 1]
    assert choice.within(0.01).rules.tolist() == [5, 2, 7]
    assert choice.within(0.03).rules.tolist() == [5, 2]
    assert choice.within(0.029).rules.tolist() == [5, 2, 7]
    assert choice.within(0.99).rules.tolist() == [5]
    assert choice.within(0.03).loss == pytest.approx(0.03)
