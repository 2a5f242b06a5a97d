"""The study of how stable reasons are: noise, counting, and the two kinds of cases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from benchmarks.decision_tables import DecisionTable
from benchmarks.reason_stability import Case, Counts, ForestCase, Options, find_causes, measure, of_package, with_noise

from suffice import SufficientExplainer


@pytest.fixture(scope="module")
def loans():
    rng = np.random.default_rng(0)
    n = 300
    X = pd.DataFrame(
        {
            "income": rng.integers(10, 90, n),
            "debt": rng.uniform(size=n).round(2),
            "job": rng.choice(["craft", "sales"], n),
        }
    )
    is_declined = (X["income"] < 40) & (X["debt"] > 0.3)
    return DecisionTable("loans", X, pd.Series(np.where(is_declined, "declined", "approved")), "declined")


def test_only_numbers_get_noise_in_proportion_to_their_spread(loans):
    explainer = SufficientExplainer(random_state=0).fit(loans.X, loans.y)
    noisy = with_noise(loans.X, explainer, 0.5, np.random.default_rng(1))
    assert noisy["job"].tolist() == loans.X["job"].tolist()
    assert (noisy["income"] % 1 == 0).all()
    for name in ("income", "debt"):
        difference = noisy[name] - loans.X[name]
        assert (difference != 0).any()
        assert np.std(difference) == pytest.approx(0.5 * np.std(loans.X[name]), rel=0.15)
    assert with_noise(loans.X, explainer, 0.0, np.random.default_rng(1)).equals(loans.X.astype({"income": float}))


def test_pairs_count_if_the_row_has_reasons_and_keeps_its_decision():
    counts = Counts()
    before = [("a", "b"), ("b",), ("c",), ()]
    after = [("b", "a"), (), ("c",), ("a",)]
    counts.add("suffice", "seed", before, after, [True, True, False, True], after)
    assert counts.pairs["suffice", "seed"] == [(False, True, False), (False, False, True)]
    # Same first reason, the same among pairs with reasons after the change, all the same, none after the change.
    assert counts.text("suffice", "seed").split() == ["0.00", "0.00", "0.50", "0.50"]
    assert counts.text("suffice", "noise").strip() == "-"


@pytest.mark.parametrize(("kind", "n_kinds"), [(Case, 5), (ForestCase, 3)])
def test_a_case_prints_a_line_for_each_method_with_figures_for_each_change(kind, n_kinds, loans, capsys):
    case = kind(loans, Options(n_rows=4, n_changes=1, n_trees=10))
    measure(case, of_package("declined"))
    printed = capsys.readouterr().out
    lines = {line[2:30].strip(): line[30:].split() for line in printed.splitlines()[3:]}
    assert printed.startswith("loans: 210 training rows, 4 adverse rows")
    assert len(lines["suffice"]) == 4 * n_kinds
    for who, figures in lines.items():
        assert all(figure in ("-", "nan") or 0 <= float(figure) <= 1 for figure in figures), who
    measure(kind(loans, case.options), of_package("declined"))
    assert capsys.readouterr().out == printed


def test_causes_account_for_every_pair(loans, capsys):
    find_causes(Case(loans, Options(n_rows=4, n_changes=1, n_trees=10)))
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].endswith("adverse rows have reasons")
    for line in printed:
        if " pairs: " in line:
            shares = [float(part.rsplit(" ", 1)[1]) for part in line.split(": ")[1].split(", ") if part[-1].isdigit()]
            assert sum(shares) == pytest.approx(1, abs=0.02)
