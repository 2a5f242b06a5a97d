"""Figures of the rules: how many are proven maximal, how they read, and how fast they are against Anchors."""

from __future__ import annotations

import time

import numpy as np
from experiments.data.synthetic import make_moons, make_switch
from experiments.switch import least_leaf
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from benchmarks.switch import switch_forest
from suffice import GlobalRulesClassifier, SufficientExplainer

N_ANCHORS = 5  # rows explained by anchor-exp: it takes seconds a row


def switch_rules():
    train, test, forest = switch_forest(10_000)
    explainer = SufficientExplainer.paper(forest).fit(train.X, train.y)
    X_test, fresh = test.X, make_switch(20_000, random_state=99).X
    print("Switch model, 10^4 rows, rules of 1000 test rows (both cores)")
    for check in ("rows", "everywhere"):
        start = time.perf_counter()
        explanations = explainer.explain(X_test, sets="minimal", check=check)
        seconds = time.perf_counter() - start
        rules = [rule for rule in explanations.rules if rule is not None]
        optimal = np.mean([rule.optimal for rule in rules])
        proven = np.mean([rule.everywhere for rule in rules])
        print(
            f"  check={check!r}: {1000 * seconds / len(X_test):.1f} ms a row, {len(rules)} rules, proven maximal "
            f"{optimal:.3f} (goal 0.95), proven everywhere {proven:.3f}, mean coverage "
            f"{100 * np.mean([rule.coverage for rule in rules]):.2f} %, fresh rows inside with SDP >= pi "
            f"{share_of_good_fresh_rows(explainer, explanations, X_test, fresh):.3f}"
        )
    rows = X_test[X_test["X5"] > 0]
    bounds = [bound_on("X5", rule) for rule in explainer.rule(rows, ["X3", "X4", "X5"]) if rule is not None]
    print(
        f"  S = {{X3, X4, X5}}: lower bound on X5 within 0.1 of 0 for {np.mean(np.abs(bounds) < 0.1):.2f} of "
        f"{len(bounds)} rules (goal 0.80), within 0.3 for {np.mean(np.abs(bounds) < 0.3):.2f}"
    )


def bound_on(column, rule):
    return next((c.low for c in rule.conditions if c.column == column), -np.inf)


def share_of_good_fresh_rows(explainer, explanations, rows, fresh, n_rules=200):
    """The share of fresh rows inside the first rules whose SDP for the rule's outcome is at least pi."""
    n_inside = n_good = 0
    intervals = explainer.interval(rows)
    for i, e in enumerate(explanations[:n_rules]):
        if e.rule is None:
            continue
        inside = fresh[e.rule.covers(fresh)]
        if len(inside):
            low, high = intervals[i]
            cdf = explainer.cdf(inside, list(e.best_set.variables), [np.nextafter(low, -np.inf), high])
            n_good += np.count_nonzero(cdf[:, 1] - cdf[:, 0] >= explainer.pi_ - 1e-9)
            n_inside += len(inside)
    return n_good / n_inside


def against_anchors():
    from anchor import anchor_tabular

    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(20, random_state=0)
    explainer = SufficientExplainer.paper(forest, n_jobs=1).fit(X, y)
    peer = anchor_tabular.AnchorTabularExplainer(["malignant", "benign"], [f"x{i}" for i in range(X.shape[1])], X)
    rows = np.random.default_rng(0).permutation(len(X))[:N_ANCHORS]
    np.random.seed(0)  # noqa: NPY002 (anchor-exp draws from it)
    ours, theirs = [], []
    start = time.process_time()
    explanations = explainer.explain(X, sets="minimal")
    whole = (time.process_time() - start) / len(X)
    for row in rows:
        start = time.process_time()
        explainer.explain(X[row : row + 1], sets="minimal")
        ours.append(time.process_time() - start)
        start = time.process_time()
        peer.explain_instance(X[row], explainer.forest_.predict, threshold=0.9)
        theirs.append(time.process_time() - start)
    n_optimal = sum(rule.optimal for rule in explanations.rules if rule)
    print(f"Breast cancer, 20 trees, 1 thread, CPU ms a row with its rule ({len(rows)} rows for anchor-exp)")
    print(f"  anchor-exp             {1000 * np.mean(theirs):9.1f}")
    print(f"  suffice, row by row    {1000 * np.mean(ours):9.2f}   {np.mean(theirs) / np.mean(ours):.0f} times as fast")
    print(
        f"  suffice, whole table   {1000 * whole:9.2f}   {np.mean(theirs) / whole:.0f} times as fast (goal 1000); "
        f"{n_optimal} of {sum(rule is not None for rule in explanations.rules)} rules proven maximal"
    )


def moons():
    """The paper's appendix: two moons, 100 Gaussian columns, the label flipped where the first of these is positive."""
    rng = np.random.default_rng(0)
    train, test = make_moons(10_000, random_state=rng), make_moons(1000, random_state=rng)
    forest = RandomForestClassifier(
        20, min_samples_leaf=least_leaf(10_000), max_features=None, n_jobs=-1, random_state=0
    )
    explainer = SufficientExplainer.paper(forest, pi=0.95).fit(train.X, train.y)
    explanations = explainer.explain(test.X, sets="minimal")
    sets = [set(e.best_set.variables) for e in explanations if e.is_sufficient]
    # Z1 with one of the moon's two coordinates can be enough: a complete set has Z1 and at least one of them.
    tpr = np.mean([("Z1" in S) * 0.5 + bool(S & {"X1", "X2"}) * 0.5 for S in sets])
    fdr = np.mean([len(S - test.true_variables) / len(S) for S in sets])
    print(
        f"Moons with 100 noise columns, 1000 rows: mean size {np.mean([len(S) for S in sets]):.2f} (goal about 2), "
        f"TPR {tpr:.3f} (goal 1), FDR {fdr:.3f} (goal 0.03), sufficient {len(sets)}, accuracy of the forest "
        f"{explainer.score(test.X, test.y):.3f}"
    )


def global_rules():
    """Global-SR on breast cancer: 18 trees of depth 15 and pi = 0.9, as the paper's notebook has them."""
    X, y = load_breast_cancer(return_X_y=True)
    figures = []
    for seed in range(10):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=seed)
        forest = RandomForestClassifier(18, max_depth=15, random_state=seed)
        start = time.perf_counter()
        rule_list = GlobalRulesClassifier.paper(forest).fit(X_train, y_train)
        seconds = time.perf_counter() - start
        covered = rule_list.covered(X_test)
        accuracy = np.mean(rule_list.predict(X_test)[covered] == y_test[covered])
        in_forest = np.mean(rule_list.explainer_.predict(X_test) == y_test)
        figures.append((accuracy, covered.mean(), in_forest, len(rule_list.rules_), seconds))
    accuracy, coverage, in_forest, n_rules, seconds = np.mean(figures, axis=0)
    print(
        f"Global rules on breast cancer, 10 splits 80/20: accuracy {accuracy:.3f} on {100 * coverage:.1f} % covered "
        f"(goal 0.95 at 92 %), the forest {in_forest:.3f} on all; {n_rules:.0f} rules; "
        f"{seconds:.1f} s a fit"
    )
