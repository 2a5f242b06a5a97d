"""Maximal rules against brute force over all boxes on the forest's thresholds."""

from __future__ import annotations

import inspect
import math
from itertools import product

import numpy as np
import pytest
from forests import arrays_of, core_forest, core_rows, fitted_forests, mask, project, sdps_of, set_cells, tree
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from oracle import Oracle, largest_box, trees_of
from sklearn.ensemble import RandomForestClassifier
from small_explainers import ROWS
from thoroughness import n_examples

from suffice import SufficientExplainer, _core
from suffice.explaining.search import ExplainOptions, find_maximal_rules, find_sufficient_sets


def thresholds_of(trees, column):
    """The forest's thresholds on a column, as the float32 values that still go left."""
    thresholds = set()
    for t in trees:
        for threshold in t.threshold[t.column == column]:
            nearest = np.float32(threshold)
            thresholds.add(float(nearest if nearest <= threshold else np.nextafter(nearest, np.float32(-np.inf))))
    return sorted(thresholds)


# All rows, all but not at once, some of them, and as many as are needed to find a few that may lie in a rule.
LOOKED_AT = st.sampled_from([None, (3, 10**6, 10**6), (3, 12, 10**6), (2, 10**6, 3)])


def looked_at_first(n_rows, n_looked_at):
    """The rows that are looked at, as docs/method.md (5.2) has it."""
    step = int(n_rows * ((5**0.5 - 1) / 2))
    while math.gcd(step, n_rows) != 1:
        step -= 1
    return np.arange(n_looked_at) * step % n_rows


def find_rules(cells, X, ranks, *, n_threads=1, **options):
    defaults = {"everywhere": False, "by_volume": False, "max_nodes": 10**6, "max_regions": 10**6}
    return arrays_of(
        _core.find_rules(
            cells=cells, rows=core_rows(X, ranks), options=_core.RuleOptions(**defaults | options), n_threads=n_threads
        )
    )


def intervals_around(value, thresholds, has_missing):
    """Every (low, high, has values, missing) on the thresholds that holds the value.

    Missing values are left out where the data have none.
    """
    ends = [-np.inf, *thresholds, np.inf]
    pairs = [(a, b) for i, a in enumerate(ends) for b in ends[i + 1 :]]
    if np.isnan(value):
        return [(a, b, True, True) for a, b in pairs] + [(0.0, 0.0, False, True)]
    return [(a, b, True, missing) for a, b in pairs if a < value <= b for missing in {False, has_missing}]


def inside(values, interval):
    low, high, has_values, missing = interval
    return np.where(np.isnan(values), missing, has_values & (low < values) & (values <= high))


def best_by_brute_force(x, X, is_bad, thresholds, points, is_bad_point, has_missing):
    """The most training rows that a box around x without bad rows or bad points can cover."""
    best = -1
    for box in product(*(intervals_around(x[c], thresholds[c], has_missing[c]) for c in range(len(x)))):
        covered = np.all([inside(X[:, c], box[c]) for c in range(len(x))], axis=0)
        if (covered & is_bad).any():
            continue
        if len(points) and (np.all([inside(points[:, c], box[c]) for c in range(len(x))], axis=0) & is_bad_point).any():
            continue
        best = max(best, int(covered.sum()))
    return best


def grid_points(thresholds):
    """One point of every region on which all cells are constant, missing values among them."""
    axes = [[*t, (t[-1] if t else 0.0) + 1.0, np.nan] for t in thresholds]
    return np.array(list(product(*axes)))


def covered_rows(rules, i, X):
    box = [
        (rules["low"][i, c], rules["high"][i, c], bool(rules["has_values"][i, c]), bool(rules["missing"][i, c]))
        for c in range(X.shape[1])
    ]
    return np.all([inside(X[:, c], box[c]) for c in range(X.shape[1])], axis=0)


@settings(max_examples=n_examples(120), deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    drawn=fitted_forests(max_columns=4, max_rows=40),
    pi=st.sampled_from([0.5, 0.7, 0.9]),
    min_node_size=st.sampled_from([1, 3]),
    seed=st.integers(0, 99),
    everywhere=st.booleans(),
    looked_at=LOOKED_AT,
)
def test_a_rule_covers_as_many_rows_as_the_best_box(drawn, pi, min_node_size, seed, everywhere, looked_at):
    X, y, _, forest = drawn
    trees = trees_of(forest)
    columns = list(range(X.shape[1]))
    thresholds = [thresholds_of(trees, c) for c in columns]
    assume(all(len(t) <= (4 if len(columns) < 4 else 2) for t in thresholds))  # brute force takes minutes beyond
    rng = np.random.default_rng(seed)
    oracle = Oracle(trees, X, y, min_node_size)
    forest_core = core_forest(trees, X, y)
    cells = set_cells(forest_core, columns, min_node_size, looked_at)
    queries = X[rng.integers(len(X), size=2)]
    values = np.unique(y)
    ranks = np.array([np.searchsorted(values, y[rng.integers(len(y))]) for _ in range(2)], dtype=np.uint32)
    rules = find_rules(cells, queries, ranks, pi=pi, everywhere=everywhere)
    points = grid_points(thresholds) if everywhere else np.empty((0, len(columns)))
    for i, x in enumerate(queries):
        outcome = (values[ranks[i]], values[ranks[i]])
        sdp = float(oracle.sdp(x, columns, outcome))
        assert rules["sdp"][i] == pytest.approx(sdp, abs=1e-12)
        assert bool(rules["exists"][i]) == (sdp >= pi - 1e-9)
        if not rules["exists"][i]:
            continue
        rows = X[looked_at_first(len(X), rules["n_looked_at"][i])]
        assert looked_at is not None or len(rows) == len(X)
        is_bad = np.array([float(oracle.sdp(z, columns, outcome)) < pi - 1e-9 for z in rows])
        is_bad_point = np.array([float(oracle.sdp(z, columns, outcome)) < pi - 1e-9 for z in points], dtype=bool)
        is_covered = covered_rows(rules, i, rows)
        assert not (is_covered & is_bad).any()
        assert covered_rows(rules, i, x[None]).all()
        assert rules["value"][i] == is_covered.sum()
        assert rules["is_optimal"][i]
        missing = [bool(np.isnan(X[:, c]).any()) for c in columns]
        assert rules["value"][i] == best_by_brute_force(x, rows, is_bad, thresholds, points, is_bad_point, missing)
        sdps = [float(oracle.sdp(z, columns, outcome)) for z in rows[is_covered]]
        assert rules["mean_sdp"][i] == pytest.approx(np.mean(sdps) if sdps else 0.0, abs=1e-12)
        if everywhere:
            assert rules["holds_everywhere"][i]
            assert not (covered_rows(rules, i, points) & is_bad_point).any()


@st.composite
def rows_with_rules(draw):
    """A row of a sparse table, what is bad among its rows and the points of every region, and a search for rules."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_columns = draw(st.integers(2, 3))
    X = rng.integers(0, 9 if n_columns == 2 else 5, size=(draw(st.integers(8, 30)), n_columns)).astype(np.float32)
    y = (X.sum(axis=1) + rng.normal(0, 2, len(X)) > X.sum(axis=1).mean()).astype(float)
    assume(len(np.unique(y)) == 2)
    forest = RandomForestClassifier(draw(st.integers(1, 4)), max_depth=4, random_state=0).fit(X, y)
    trees = trees_of(forest)
    columns = list(range(n_columns))
    everything = np.vstack([X, grid_points([thresholds_of(trees, c) for c in columns])])
    pi, row = draw(st.sampled_from([0.5, 0.7, 0.9])), int(rng.integers(len(X)))
    oracle = Oracle(trees, X, y, 1)
    is_bad = np.array([float(oracle.sdp(z, columns, (y[row], y[row]))) < pi - 1e-9 for z in everything])
    assume(not is_bad[row])
    cells = set_cells(core_forest(trees, X, y), columns, 1)

    def search(**options):
        return find_rules(cells, X[[row]], np.array([y[row]], np.uint32), pi=pi, everywhere=True, **options)

    return everything, is_bad, row, search


@settings(max_examples=n_examples(60), deadline=None)
@given(drawn=rows_with_rules())
def test_something_bad_lies_beyond_every_end_of_a_rule_that_holds_everywhere(drawn):
    """Its sides once ended at the outermost covered rows, although nothing bad lay beyond them."""
    everything, is_bad, _, search = drawn
    rules = search()
    for c in range(everything.shape[1]):
        for end, infinity in (("low", -np.inf), ("high", np.inf)):
            if np.isfinite(rules[end][0, c]):
                wider = {**rules, end: rules[end].copy()}
                wider[end][0, c] = infinity
                assert (covered_rows(wider, 0, everything) & is_bad).any()


@settings(max_examples=n_examples(60), deadline=None)
@given(drawn=rows_with_rules(), max_regions=st.integers(0, 60))
def test_a_rule_holds_everywhere_however_small_the_budget(drawn, max_regions):
    everything, is_bad, row, search = drawn
    best, rules = search(), search(max_regions=max_regions)
    covered = covered_rows(rules, 0, everything)
    assert covered[row]
    assert not (covered & is_bad).any()
    assert best["is_optimal"][0]
    assert rules["value"][0] <= best["value"][0] <= rules["bound"][0]
    if rules["is_optimal"][0]:
        assert rules["value"][0] == best["value"][0]


@settings(max_examples=n_examples(60), deadline=None)
@given(drawn=fitted_forests(max_columns=4), min_node_size=st.sampled_from([1, 3, 9]), seed=st.integers(0, 99))
def test_the_projected_tree_has_the_cells_of_the_definition(drawn, min_node_size, seed):
    """The written-out projected trees and the cell finder agree to the bit on every training row."""
    X, y, _, forest = drawn
    n = X.shape[1]
    rng = np.random.default_rng(seed)
    trees = trees_of(forest)
    core = core_forest(trees, X, y)
    S = [c for c in range(n) if rng.random() < 0.6]
    hi = int(rng.integers(len(np.unique(y))))
    cells = set_cells(core, S, min_node_size, n_columns=n)
    sets = np.full(len(X), mask(S), np.uint64)
    expected = _core.sdp(
        projection=project(core, n),
        rows=core_rows(X, 0, hi),
        sets=sets,
        min_node_size=min_node_size,
        n_threads=1,
    )
    np.testing.assert_array_equal(sdps_of(cells, X, 0, hi), expected)


def test_a_rule_worked_out_by_hand():
    # Outcome 1 where a > 1.5 and b > 0.5; x in the middle of it.
    X = np.array(list(product([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0])))
    y = ((X[:, 0] > 1.5) & (X[:, 1] > 0.5)).astype(int)
    t = tree((0, 1.5, None, (1, 0.5, None, (0, 2.5, None, None))), np.arange(12))
    cells = set_cells(core_forest([t], X, y), [0, 1], 1)
    for everywhere in (False, True):
        rules = find_rules(cells, [[3.0, 1.0]], 1, pi=0.9, everywhere=everywhere, max_nodes=100, max_regions=100)
        assert rules["low"].tolist() == [[1.5, 0.5]]
        assert rules["high"].tolist() == [[np.inf, np.inf]]
        assert rules["value"].tolist() == [4]
        assert rules["is_optimal"].tolist() == [True]
        assert rules["holds_everywhere"].tolist() == [True]
    # By volume within the data's range: (3 - 1.5) / 3 times (2 - 0.5) / 2.
    rules = find_rules(cells, [[3.0, 1.0]], 1, pi=0.9, by_volume=True, max_nodes=100, max_regions=100)
    assert rules["bound"].tolist() == [0.5 * 0.75]


def test_a_budget_that_ends_early_is_reported():
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    y = (np.sin(9 * X).sum(axis=1) > 0.5).astype(int)

    def grow(depth):
        return None if depth == 0 else (int(rng.integers(3)), float(rng.random()), grow(depth - 1), grow(depth - 1))

    trees = [tree(grow(6), rng.integers(400, size=400)) for _ in range(5)]
    cells = set_cells(core_forest(trees, X, y), [0, 1, 2], 3)
    full = find_rules(cells, X, 1, pi=0.7, n_threads=2)
    short = find_rules(cells, X, 1, pi=0.7, max_nodes=2, n_threads=2)
    exists = full["exists"]
    assert full["is_optimal"][exists].all()
    hard = exists & ~short["is_optimal"]
    assert hard.any()
    assert (short["bound"][hard] >= full["value"][hard]).all()
    assert (short["value"][hard] >= 1).all()
    assert (short["value"] <= full["value"]).all()


@pytest.mark.parametrize("n_columns", [2, 3, 4])
def test_a_rule_among_many_bad_rows_is_the_largest_box(n_columns):
    """The forest is so large that most boxes are excluded by the best box so far, not by counting alone."""
    rng = np.random.default_rng(n_columns)
    n_rules = 0
    for _ in range(6):
        X = rng.integers(12, size=(150, n_columns)).astype(float)
        y = (np.sin(X).sum(axis=1) + 0.5 * rng.standard_normal(150) > 0).astype(int)

        def grow(depth):
            if depth == 0:
                return None
            return int(rng.integers(n_columns)), float(rng.integers(12)) + 0.5, grow(depth - 1), grow(depth - 1)

        trees = [tree(grow(4), rng.integers(150, size=150)) for _ in range(5)]
        cells = set_cells(core_forest(trees, X, y), range(n_columns), 2)
        rules = find_rules(cells, X[:20], 1, pi=0.6)
        is_good = sdps_of(cells, X, 1, 1) >= 0.6 - 1e-10
        codes = np.column_stack([np.searchsorted(thresholds_of(trees, c), X[:, c]) for c in range(n_columns)])
        for i in np.flatnonzero(rules["exists"]):
            assert rules["is_optimal"][i]
            assert rules["value"][i] == largest_box(codes[i], codes[is_good], codes[~is_good])
            n_rules += 1
    assert n_rules > 20


@settings(max_examples=n_examples(60), deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(drawn=fitted_forests(max_columns=3, max_rows=40), pi=st.sampled_from([0.5, 0.7, 0.9]), seed=st.integers(0, 99))
def test_no_good_box_has_a_larger_volume(drawn, pi, seed):
    X, y, _, forest = drawn
    trees = trees_of(forest)
    columns = range(X.shape[1])
    thresholds = [thresholds_of(trees, c) for c in columns]
    assume(all(len(t) <= 4 for t in thresholds))
    cells = set_cells(core_forest(trees, X, y), columns, 1)
    i = int(np.random.default_rng(seed).integers(len(X)))
    rank = int(np.searchsorted(np.unique(y), y[i]))
    rules = find_rules(cells, X[i : i + 1], rank, pi=pi, by_volume=True)
    assume(rules["exists"][0])
    is_bad = sdps_of(cells, X, rank, rank) < pi - 1e-10
    best = 0.0
    for box in product(*(intervals_around(X[i, c], thresholds[c], bool(np.isnan(X[:, c]).any())) for c in columns)):
        if not (np.all([inside(X[:, c], box[c]) for c in columns], axis=0) & is_bad).any():
            best = max(best, volume(box, X))
    assert rules["is_optimal"][0]
    assert rules["bound"][0] == pytest.approx(best, rel=1e-6, abs=1e-12)
    box = [tuple(rules[key][0, c] for key in ("low", "high", "has_values", "missing")) for c in columns]
    assert volume(box, X) == pytest.approx(best, rel=1e-6, abs=1e-12)
    assert not (covered_rows(rules, 0, X) & is_bad).any()


def volume(box, X):
    """The share of the data's range that a box takes up; a column of one value does not count."""
    out = 1.0
    for c, (low, high, has_values, _) in enumerate(box):
        values = X[~np.isnan(X[:, c]), c].astype(np.float32).astype(float)
        if len(values) and values.min() < values.max():
            ends = np.clip([low, high], values.min(), values.max())
            out *= (ends[1] - ends[0]) / np.ptp(values) if has_values else 0.0
    return out


@settings(max_examples=n_examples(60), deadline=None)
@given(
    drawn=fitted_forests(max_columns=3, max_rows=40),
    pi=st.sampled_from([0.5, 0.7, 0.9]),
    seed=st.integers(0, 99),
    options=st.sampled_from([{}, {"everywhere": True}, {"by_volume": True}, {"max_nodes": 1}, {"max_regions": 3}]),
    looked_at=LOOKED_AT,
)
def test_the_rules_of_many_rows_are_those_of_each_alone_to_the_bit(drawn, pi, seed, options, looked_at):
    """Rows with the same codes and outcome are searched once; those with the same outcome use the same shares.

    Later questions use the trees and the sums of earlier ones, at whatever level these were asked.
    """
    X, y, _, forest = drawn
    core = core_forest(trees_of(forest), X, y)

    def new_cells():
        return set_cells(core, range(X.shape[1]), 2, looked_at)

    used = new_cells()
    rng = np.random.default_rng(seed)
    rows = np.concatenate([X, X[rng.integers(len(X), size=20)], X[::-1] + 0.25])  # many of them more than once
    ends = np.sort(rng.integers(len(np.unique(y)), size=(len(rows), 2)), axis=1)

    def find(cells, rows, ends, pi, n_threads):
        return arrays_of(
            _core.find_rules(
                cells=cells,
                rows=core_rows(rows, ends[:, 0], ends[:, 1]),
                options=_core.RuleOptions(
                    **{"pi": pi, "everywhere": False, "by_volume": False, "max_nodes": 100, "max_regions": 1000}
                    | options
                ),
                n_threads=n_threads,
            )
        )

    find(used, rows, ends, 0.95, 1)
    together = find(used, rows, ends, pi, 2)
    for i in range(len(rows)):
        for name, values in find(new_cells(), rows[i : i + 1], ends[i : i + 1], pi, 1).items():
            assert together[name][i].tobytes() == values[0].tobytes(), name


@pytest.mark.parametrize("looked_at", [None, (5, 10**6, 10**6)])
def test_a_lower_level_is_asked_after_a_higher_one(looked_at):
    """The shares of a point are not added up to the end if it cannot reach the level."""
    rng = np.random.default_rng(0)
    X = rng.integers(6, size=(80, 2)).astype(float)
    y = (X.sum(axis=1) + rng.normal(0, 1, 80) > 4).astype(int)
    trees = trees_of(RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y))
    core = core_forest(trees, X, y)
    used = set_cells(core, [0, 1], 1, looked_at)
    x = X[[int(X.sum(axis=1).argmax())]]
    assert find_rules(used, x, 1, pi=0.95)["exists"][0]
    rules, fresh = (find_rules(cells, x, 1, pi=0.6) for cells in (used, set_cells(core, [0, 1], 1, looked_at)))
    assert {name: values.tobytes() for name, values in rules.items()} == {
        name: values.tobytes() for name, values in fresh.items()
    }


def test_a_bad_row_does_not_hide_rows_with_missing_values():
    """A box around x and a row without a value holds no other values than x's."""
    X = np.array([[0.0], [2.0], *[[np.nan]] * 6])
    y = np.array([1, 0, *[1] * 6])
    t = tree((0, 1.0, None, None, 1), np.arange(8))
    rules = find_rules(set_cells(core_forest([t], X, y), [0], 1, (2, 10**6, 10**6)), X[:1], 1, pi=0.9)
    assert rules["value"].tolist() == [7]
    assert rules["missing"].tolist() == [[True]]


@pytest.mark.parametrize("deep_side", ["left", "right"])
def test_a_tree_of_any_depth_is_projected(deep_side):
    """A chain of splits once overflowed the stack: the projected tree was grown by a function that called itself."""
    n = 100_000  # splits between 0 and the values of the two rows, the last of them between these two
    node = np.arange(2 * n + 1)
    is_leaf = (node % 2 == 1) | (node == 2 * n)
    deeper, leaf = np.where(is_leaf, -1, node + 2), np.where(is_leaf, -1, node + 1)
    sign = -1 if deep_side == "left" else 1
    X = np.array([[sign * n], [sign * (n - 1)]], np.float32)
    forest = _core.Forest(
        X=X,
        y_rank=np.array([0, 1], np.uint32),
        y_values=np.array([0.0, 1.0]),
    )
    tree = _core.Tree(
        left=deeper if deep_side == "left" else leaf,
        right=leaf if deep_side == "left" else deeper,
        column=np.where(is_leaf, -1, 0),
        threshold=np.where(is_leaf, -2.0, sign * (node // 2 + 0.5)),
        missing_go_to_left=np.zeros(len(node), np.uint8),
        n_rows=np.where(is_leaf, node >= 2 * n - 1, 2.0),
        value=np.zeros((len(node), 1)),
        rows=np.arange(2, dtype=np.int32),
    )
    forest.add_trees(trees=[tree])
    assert sdps_of(set_cells(forest, [0], 1), X, 1, 1).tolist() == [0.0, 1.0]


# --- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sets": "most"}, r"`sets` must be one of \['minimal', 'all'\], got 'most'\."),
        ({"rules": "some"}, r"`rules` must be one of \['minimal', 'all', None\], got 'some'\."),
        ({"check": "row"}, r"`check` must be one of \['rows', 'everywhere'\], got 'row'\. Did you mean 'rows'\?"),
        ({"volume": "area"}, r"`volume` must be one of \['rows', 'lebesgue'\], got 'area'\."),
        ({"max_nodes": 0}, "`max_nodes` must be a whole number >= 1, got 0"),
    ],
)
def test_unknown_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ExplainOptions(**options)


def test_a_number_of_nodes_is_whole():
    with pytest.raises(TypeError, match=r"`max_nodes` must be a whole number >= 1, got 2\.5"):
        ExplainOptions(max_nodes=2.5)


def test_the_default_options_are_those_of_explain():
    parameters = inspect.signature(SufficientExplainer.explain).parameters
    options = ExplainOptions()
    for name in ("sets", "rules", "check", "volume"):
        assert getattr(options, name) == parameters[name].default
    assert options.max_nodes == inspect.signature(SufficientExplainer.rule).parameters["max_nodes"].default


# --- boxes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first_only", [True, False])
def test_the_boxes_of_many_rows_are_those_of_each_alone(explainer, first_only):
    """Rows are grouped by their set and sorted by their outcome; each box must come back to its own row."""
    fitted, matrix = explainer.fitted_, explainer.encode(ROWS)
    outcomes = explainer.outcomes(ROWS)
    sets = find_sufficient_sets(fitted, matrix, outcomes, minimal_only=False, progress=None)
    row_sets = [*(sets.best_by_row() if first_only else sets.by_row()), (0, (3,))]  # the last is not sufficient
    n_done = []
    boxes = find_maximal_rules(fitted, matrix, outcomes, row_sets, ExplainOptions(), n_done.append)
    alone = [find_maximal_rules(fitted, matrix, outcomes, [pair], ExplainOptions())[0] for pair in row_sets]
    assert boxes == alone
    assert boxes[-1] is None
    assert all(box is not None for box in boxes[:-1])
    assert find_maximal_rules(fitted, matrix, outcomes, [], ExplainOptions()) == []
    assert sorted(n_done) == n_done
    for box in boxes[:-1]:
        assert box.coverage == box.support / len(fitted.forest.X)
        assert (box.mae is None) == (fitted.classes is not None)


# --- rules that cover enough rows -------------------------------------------------------------------------------------


def test_the_rule_of_a_row_is_that_of_its_best_set_if_it_covers_enough_rows(explainer):
    explainer = explainer.with_settings(pi=0.6)  # rows have several sets
    fitted, matrix, outcomes = explainer.fitted_, explainer.encode(ROWS), explainer.outcomes(ROWS)
    sets = find_sufficient_sets(fitted, matrix, outcomes, minimal_only=False, progress=None)
    best = sets.best_by_row()
    boxes = dict(zip(best, find_maximal_rules(fitted, matrix, outcomes, best, ExplainOptions()), strict=True))
    supports = sorted(box.support for box in boxes.values())
    for min_support in (0, *supports[::5], supports[-1] + 1):
        explanations = explainer.explain(ROWS, min_support=min_support)
        for row, S in best:
            box = boxes[row, S]
            assert explanations.rules[row] == (box if box.support >= min_support else None)
            assert explanations.best_sets[row].variables == tuple(fitted.variables.names[v] for v in S)


def test_rules_of_all_sets_are_given_whatever_they_cover(explainer):
    every = explainer.explain(ROWS, rules="all", min_support=10**6)
    assert [len(e.rules) for e in every] == every.n_sets.tolist()
