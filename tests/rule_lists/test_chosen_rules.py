"""The greedy choice of rules, against a slow choice that measures every list in full."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaincinv
from scipy.stats import chi2

from suffice.rule_lists import choosing
from suffice.rule_lists.choosing import Choice, choose_greedily
from suffice.rule_lists.measures import LabelGains, NumberGains, discount_of_errors


def choose_slowly(covers, gain, ranks, max_rules=None):
    """Try every rule that is left, and take the first of the best ones; `gain(rule, rows, decided)` measures it."""
    n_rules, n_rows = covers.shape
    decided = [None] * n_rows
    chosen, gains = [], []
    while max_rules is None or len(chosen) < max_rules:
        best = None
        for rule in range(n_rules):
            rows = [
                i for i in range(n_rows) if covers[rule, i] and (decided[i] is None or ranks[rule] > ranks[decided[i]])
            ]
            if rule in chosen or len(rows) < max(1, 0.005 * n_rows):
                continue
            value = gain(rule, rows, decided)
            if value >= 0.0005 and (best is None or value > best[0] + 1e-9):
                best = value, rule, rows
        if best is None:
            break
        chosen.append(best[1])
        gains.append(best[0])
        for i in best[2]:
            decided[i] = best[1]
    return chosen, gains


def gain_of_labels(y, labels, expected):
    def gain(rule, rows, decided):
        n_right = sum(y[i] == labels[rule] for i in rows)
        right = min(betaincinv(n_right + 0.5, len(rows) - n_right + 0.5, 0.1), expected[rule])
        return len(rows) * (right - np.mean(y == labels[rule])) / len(y)

    return gain


def gain_of_numbers(y, outputs, support):
    def worth(rule, i):
        if rule is None:
            return 0.0
        n = support[rule]
        quantile = chi2.ppf(0.1, n)
        error = (1 + 1 / n) * (n * (y[i] - outputs[rule]) ** 2 + y.var()) / quantile
        return (y[i] - y.mean()) ** 2 - error

    def gain(rule, rows, decided):
        return sum(worth(rule, i) - worth(decided[i], i) for i in rows) / (len(y) * y.var())

    return gain


def draw_covers(rng, n_rules=12, n_rows=40):
    covers = rng.random((n_rules, n_rows)) < rng.choice([0.1, 0.3, 0.6], size=(n_rules, 1))
    covers[0] = False  # a rule without rows
    covers[-1] = covers[1]  # a tie
    return covers


@pytest.mark.parametrize("block", [3, 256])
@pytest.mark.parametrize("seed", range(10))
def test_labels_are_chosen_as_the_slow_choice_does(seed, block, monkeypatch):
    monkeypatch.setattr(choosing, "BLOCK", block)
    rng = np.random.default_rng(seed)
    covers = draw_covers(rng)
    y, labels = rng.integers(0, 3, size=40), rng.integers(0, 3, size=12)
    y = np.where(covers[2], labels[2], y)  # a rule that is right everywhere
    expected = rng.uniform(0.3, 1.0, size=12)
    labels[-1], expected[-1] = labels[1], expected[1]
    full = choose_greedily(covers, LabelGains(y, labels, expected))
    for max_rules in (None, 1, 3):
        slow, gains = choose_slowly(covers, gain_of_labels(y, labels, expected), np.zeros(12), max_rules)
        choice = full.first(max_rules)
        assert choice.rules.tolist() == slow
        assert choice.gains.tolist() == pytest.approx(gains)
        assert choice.in_order.tolist() == slow


@pytest.mark.parametrize("block", [3, 256])
@pytest.mark.parametrize("seed", range(10))
def test_numbers_are_chosen_as_the_slow_choice_does(seed, block, monkeypatch):
    monkeypatch.setattr(choosing, "BLOCK", block)
    rng = np.random.default_rng(seed)
    covers = draw_covers(rng)
    y = rng.normal(size=40) + 10 * covers[3] - 5 * covers[4] * covers[5]
    support = np.maximum(covers.sum(axis=1), 1)
    outputs = np.array([y[c].mean() if c.any() else 0.0 for c in covers])
    errors = np.array([np.mean((y[c] - y[c].mean()) ** 2) if c.any() else 0.0 for c in covers])
    factor, constant = discount_of_errors(support)
    expected = 1 - factor * errors / y.var() - constant
    full = choose_greedily(covers, NumberGains(y, outputs, support, expected))
    for max_rules in (None, 1, 3):
        slow, gains = choose_slowly(covers, gain_of_numbers(y, outputs, support), expected, max_rules)
        choice = full.first(max_rules)
        assert choice.rules.tolist() == slow
        assert choice.gains.tolist() == pytest.approx(gains)
        assert choice.in_order.tolist() == sorted(slow, key=lambda rule: -expected[rule])


def test_the_first_of_two_equal_rules_is_chosen():
    covers = np.array([[True] * 20 + [False] * 20] * 2)
    y = np.repeat([1, 0], 20)
    choice = choose_greedily(covers, LabelGains(y, np.array([1, 1]), np.array([0.9, 0.9])))
    assert choice.rules.tolist() == [0]


def test_a_large_rule_wins_against_a_small_one_that_is_always_right():
    """By precision alone the small one would come first."""
    covers = np.zeros((2, 400), dtype=bool)
    covers[0, :3] = covers[1, 100:200] = True
    y = np.zeros(400, dtype=int)
    y[:3] = y[105:200] = 1
    choice = choose_greedily(covers, LabelGains(y, np.array([1, 1]), np.array([1.0, 1.0])))
    assert choice.rules[0] == 1


def test_a_rule_that_is_right_as_often_as_a_guess_gains_nothing():
    y = np.repeat([0, 1], [90, 10])
    measure = LabelGains(y, np.array([0]), np.array([1.0]))
    assert choose_greedily(np.ones((1, 100), dtype=bool), measure).rules.tolist() == []


def test_a_small_rule_for_numbers_refines_a_large_one():
    y = np.concatenate([np.zeros(100), np.full(100, 10.0), np.full(50, 14.0)]) + np.tile([0.0, 0.1], 125)
    covers = np.zeros((2, 250), dtype=bool)
    covers[0, 100:] = covers[1, 200:] = True
    outputs = np.array([y[c].mean() for c in covers])
    support, expected = covers.sum(axis=1), np.array([0.8, 0.99])
    choice = choose_greedily(covers, NumberGains(y, outputs, support, expected))
    assert choice.rules.tolist() == [0, 1]
    # It gains only what it adds to the rows that the large one decides.
    assert choice.gains.tolist() == pytest.approx(
        choose_slowly(covers, gain_of_numbers(y, outputs, support), expected)[1]
    )
    assert choice.in_order.tolist() == [1, 0]


@pytest.mark.parametrize("y", [np.zeros(5), np.ones(5)])
def test_equal_numbers_need_no_rule(y):
    measure = NumberGains(y, np.array([y[0]]), np.array([5]), np.array([1.0]))
    assert choose_greedily(np.ones((1, 5), dtype=bool), measure).rules.tolist() == []


def test_without_rules_none_are_chosen():
    none = np.zeros(0, dtype=int)
    choice = choose_greedily(np.zeros((0, 5), dtype=bool), LabelGains(np.arange(5), none, np.zeros(0)))
    assert (choice.rules.tolist(), choice.gains.tolist()) == ([], [])
    assert choice.within(0.1).rules.tolist() == []


def test_the_last_rules_go_while_little_is_lost():
    choice = Choice(np.array([5, 2, 7, 1]), np.array([0.5, 0.2, 0.02, 0.01]), np.zeros(4))
    assert choice.within(0.0).rules.tolist() == [5, 2, 7, 1]
    assert choice.within(0.01).rules.tolist() == [5, 2, 7]
    assert choice.within(0.03).rules.tolist() == [5, 2]
    assert choice.within(0.029).rules.tolist() == [5, 2, 7]
    assert choice.within(0.99).rules.tolist() == [5]
    assert choice.first(2).gains.tolist() == [0.5, 0.2]
    assert choice.first(None).rules.tolist() == choice.rules.tolist()


def test_errors_of_few_rows_are_discounted_most():
    factor, constant = discount_of_errors(np.array([1, 10, 1000]))
    assert factor.tolist() == pytest.approx([n * (1 + 1 / n) / chi2.ppf(0.1, n) for n in (1, 10, 1000)])
    assert constant.tolist() == pytest.approx([(1 + 1 / n) / chi2.ppf(0.1, n) for n in (1, 10, 1000)])
    assert (np.diff(factor) < 0).all()
