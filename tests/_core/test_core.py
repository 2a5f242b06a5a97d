"""The compiled core against the oracle, on trees made by hand: every small case, then the awkward ones."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import sysconfig
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from forests import core_forest, core_rows, mask, node_sizes, project, set_cells, shapes, tree
from oracle import Oracle

from suffice import _core

GRID = np.array(list(product([0.0, 1.0, 2.0], repeat=2)))


def search_options(**options):
    defaults = {"pi": 0.9, "min_node_size": 1, "min_size": 1, "max_size": 2, "minimal_only": True, "max_sets": 99}
    return _core.SearchOptions(**{"n_by_row": 0, "least_sdp": np.zeros(0)} | defaults | options)


def subsets(n):
    return [S for size in range(n + 1) for S in combinations(range(n), size)]


def assert_same_sdp(trees, X, y, queries, min_node_size, groups=None):
    """SDP of every set at every query, for the outcome y <= median, equals the oracle's."""
    for voters in ("all", "informed"):
        assert_same_sdp_of(Oracle(trees, X, y, min_node_size, groups, voters), queries)


def assert_same_sdp_of(oracle, queries):
    trees, X, y, groups = oracle.trees, oracle.X, oracle.y, oracle.groups
    sets = subsets(len(groups))
    values = np.unique(y)
    hi = len(values) // 2
    pairs = [(x, S) for x in queries for S in sets]
    rows = core_rows([x for x, _ in pairs], 0, hi)
    masks = np.array([mask(S) for _, S in pairs], dtype=np.uint64)
    expected = [float(oracle.sdp(x, S, (values[0], values[hi]))) for x, S in pairs]
    projection = project(core_forest(trees, X, y), X.shape[1], groups, oracle.voters)
    sdp = _core.sdp(projection=projection, rows=rows, sets=masks, min_node_size=oracle.min_node_size, n_threads=1)
    np.testing.assert_allclose(sdp, expected, rtol=0, atol=1e-15)


def test_a_cell_worked_out_by_hand():
    # Rows 0..5 with column a = 0..5 and column b = 0 0 0 1 1 1, outcomes 1 where a is even.
    X = np.array([[0, 0], [1, 0], [2, 0], [3, 1], [4, 1], [5, 1]], dtype=np.float64)
    y = np.array([1, 0, 1, 0, 1, 0])
    # The root splits on b; both halves split on a, at 1.5 and at 3.5.
    t = tree((1, 0.5, (0, 1.5, None, None), (0, 3.5, None, None)), rows=np.arange(6))
    projection = project(core_forest([t], X, y), 2)
    x = core_rows([[3.0, 0.0]], 1)

    def share_of_ones(S, min_node_size):
        sets = np.array([mask(S)], np.uint64)
        return _core.sdp(projection=projection, rows=x, sets=sets, min_node_size=min_node_size, n_threads=1)[0]

    # S = {a}: x is visited on both sides of b and must agree with 1.5 < a and with a <= 3.5: rows 2, 3.
    assert share_of_ones([0], 1) == 1 / 2
    # With at least 3 rows the second split (2 rows) stops the search: rows 2, 3, 4, 5.
    assert share_of_ones([0], 3) == 2 / 4
    # S = {b}: rows 0, 1, 2. S = {a, b}: the right half is not visited, so 1.5 < a and b = 0: row 2.
    assert share_of_ones([1], 1) == 2 / 3
    assert share_of_ones([0, 1], 1) == 1
    # The stop keeps the rows as they were before: b leaves 3 rows, then a would leave 1.
    assert share_of_ones([0, 1], 2) == 2 / 3
    assert share_of_ones([], 1) == 3 / 6


@pytest.mark.parametrize("n_splits", [0, 1, 2, 3])
def test_every_small_tree_on_a_grid(kernels, n_splits):
    splits = list(product([0, 1], [0.5, 1.5]))
    rows = np.array([0, 1, 1, 2, 3, 4, 5, 5, 5, 6, 7])  # with multiplicity; row 8 is not drawn
    y = np.array([0, 1, 2, 3, 1, 0, 2, 2, 1])
    for nested in shapes(n_splits, splits):
        for min_node_size in (1, 3):
            assert_same_sdp([tree(nested, rows)], GRID, y, GRID, min_node_size)


def test_every_small_tree_with_missing_values(kernels):
    splits = list(product([0, 1], [0.5], [0, 1]))
    X = np.array(list(product([0.0, 1.0, np.nan], repeat=2)))
    y = np.array([0, 1, 2, 3, 1, 0, 2, 2, 1])
    for n_splits in (1, 2, 3):
        for nested in shapes(n_splits, splits):
            assert_same_sdp([tree(nested, np.arange(9))], X, y, X, min_node_size=2)


def test_signs_zeros_infinities_and_missing_values_are_compared_as_numbers(kernels):
    X = np.array([-np.inf, -2.5, -1e-40, -0.0, 0.0, 1e-40, 2.5, np.inf, np.nan, -np.nan])[:, None]
    y = np.arange(len(X)) % 3
    for threshold, missing_left in product([-2.5, -0.0, 0.0, 2.5], [0, 1]):
        t = tree((0, threshold, None, None, missing_left), rows=np.arange(len(X)))
        assert_same_sdp([t], X, y, X, min_node_size=1)


def test_a_group_is_split_on_when_any_of_its_columns_is(kernels):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(60, 4)).astype(float)
    y = rng.integers(0, 4, size=60)
    nested = (0, 0.5, (1, 0.5, (2, 1.5, None, None), (3, 0.5, None, None)), (2, 0.5, (1, 1.5, None, None), None))
    trees = [tree(nested, rng.integers(60, size=60)) for _ in range(3)]
    assert_same_sdp(trees, X, y, X[:10], min_node_size=3, groups=[(0, 2), (1,), (3,)])


def deep_tree(values, column=0):
    """A balanced tree with a threshold below each of the sorted values but the first."""

    def build(lo, hi):
        if hi - lo < 2:
            return None
        middle = (lo + hi) // 2
        return (column, float(values[middle]) - 0.5, build(lo, middle), build(middle, hi))

    return build(0, len(values))


WIDE = [pytest.param(n, marks=pytest.mark.slow) for n in (65533, 65535)]


@pytest.mark.parametrize("n_thresholds", [253, 254, 255, 65534, *WIDE])
def test_codes_of_every_width(kernels, n_thresholds):
    """Codes take one, two or four bytes by the number of thresholds; missing values have one more code."""
    rng = np.random.default_rng(0)
    nested = deep_tree(np.arange(n_thresholds + 1))
    nested = (1, 0.5, nested, (0, 3.5, None, None, 1), 0)
    n = min(2 * n_thresholds, 6000)  # a core that holds the rows of every split needs memory for each
    X = np.column_stack([np.linspace(0, n_thresholds, n).round(), rng.integers(0, 2, size=n)]).astype(float)
    X[rng.random(n) < 0.01, 0] = np.nan
    t = tree(nested, np.arange(n))
    y = rng.integers(0, 3, size=n)
    queries = np.array([[0, 0], [n_thresholds, 0], [n_thresholds - 1, 1], [n_thresholds // 2, 0], [np.nan, 0]])
    assert_same_sdp([t], X, y, queries, min_node_size=1)
    assert_same_sdp([t], X, y, queries, min_node_size=4)


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 4095, 4096, 4097, 9000])
def test_numbers_of_rows_around_full_blocks_and_words(kernels, n_rows):
    rng = np.random.default_rng(n_rows)
    X = np.round(rng.normal(size=(n_rows, 3)), 1)
    y = np.arange(n_rows) % 7

    def random_tree(depth):
        if depth == 0:
            return None
        return (int(rng.integers(3)), float(rng.normal()), random_tree(depth - 1), random_tree(depth - 1))

    trees = [tree(random_tree(5), rng.integers(n_rows, size=n_rows)) for _ in range(2)]
    assert_same_sdp(trees, X, y, rng.normal(size=(20, 3)), min_node_size=max(1, n_rows // 50))


@pytest.mark.parametrize("min_node_size", [1, 4])
def test_squared_weights_equal_the_oracle(kernels, min_node_size):
    """Rows drawn twice, cells of all rows (no split on the set), and sets of every size."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(70, 3)).astype(float), rng.integers(0, 4, size=70)
    X[rng.random(X.shape) < 0.1] = np.nan
    nested = (0, 0.5, (1, 0.5, None, (2, 1.5, None, None, 1)), (1, 1.5, (0, 1.5, None, None), None), 1)
    trees = [tree(nested, rng.integers(70, size=50)) for _ in range(4)] + [tree((2, 0.5, None, None), np.arange(70))]
    oracle = Oracle(trees, X, y, min_node_size)
    pairs = [(x, S) for x in X[:9] for S in subsets(3)]
    expected = [float(oracle.squared_weights(x, S)) for x, S in pairs]
    assert len(set(expected)) > 20
    forest = core_forest(trees, X, y)
    squares = _core.squared_weights(
        projection=project(forest, 3),
        X=np.array([x for x, _ in pairs], dtype=np.float32),
        sets=np.array([mask(S) for _, S in pairs], dtype=np.uint64),
        min_node_size=min_node_size,
        n_threads=2,
    )
    np.testing.assert_allclose(squares, expected, rtol=1e-12)


def test_squared_weights_worked_out_by_hand():
    """Rows 0, 1 in one tree (row 0 twice), rows 1, 2 in the other: weights 1/3, 1/6 + 1/4, 1/4."""
    X = np.zeros((3, 1))
    trees = [tree(None, [0, 0, 1]), tree(None, [1, 2])]
    projection = project(core_forest(trees, X, np.arange(3)), 1)
    query = {"X": X[:1].astype(np.float32), "sets": np.zeros(1, np.uint64), "min_node_size": 1, "n_threads": 1}
    [squares] = _core.squared_weights(projection=projection, **query)
    assert squares == pytest.approx(1 / 9 + 25 / 144 + 1 / 16)


def test_the_sdp_of_all_variables_is_that_of_the_leaves(kernels):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(60, 3)).astype(float), rng.integers(0, 5, size=60)
    nested = (0, 0.5, (1, 0.5, None, (2, 1.5, None, None)), (1, 1.5, (0, 1.5, None, None), None))
    # Few rows: some leaves hold none, and the last node on the way that has some counts.
    trees = [tree(nested, rng.integers(60, size=n)) for n in (60, 5, 2)]
    oracle = Oracle(trees, X, y, 1)
    lo, hi = rng.integers(0, 3, size=60), rng.integers(2, 5, size=60)
    values = np.unique(y)
    sdp = _core.leaf_sdp(forest=core_forest(trees, X, y), rows=core_rows(X, lo, hi), n_threads=2)
    expected = [float(oracle.sdp(x, None, (values[a], values[b]))) for x, a, b in zip(X, lo, hi, strict=True)]
    np.testing.assert_allclose(sdp, expected, rtol=0, atol=1e-15)
    nothing = _core.leaf_sdp(forest=core_forest(trees, X, y), rows=core_rows(X, 1, 0), n_threads=2)
    assert not nothing.any()


def test_values_are_compared_as_float32():
    """0.1 as float32 is above 0.1 as float64: a split at 0.1 sends it right, as scikit-learn does."""
    X = np.array([[0.1], [0.05], [0.2]])
    y = np.array([0, 1, 2])
    t = tree((0, 0.1, None, None), np.arange(3))
    projection = project(core_forest([t], X, y), 1)
    rows, sets = core_rows([[0.1]], 0), np.ones(1, np.uint64)
    sdp = _core.sdp(projection=projection, rows=rows, sets=sets, min_node_size=1, n_threads=1)
    assert sdp[0] == 1 / 2  # with 0.2, not with 0.05


def test_the_order_of_training_rows_changes_no_bit():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 5, size=(200, 3)).astype(float), rng.integers(0, 9, size=200)
    nested = (0, 2.5, (1, 1.5, (2, 2.5, None, None), None), (1, 3.5, (0, 3.5, None, None), (2, 0.5, None, None)))
    order = rng.permutation(200)
    position = np.argsort(order)
    drawn = [rng.integers(200, size=200) for _ in range(3)]
    answers = []
    for table, target, draws in ((X, y, drawn), (X[order], y[order], [rng.permutation(position[d]) for d in drawn])):
        forest = core_forest([tree(nested, d) for d in draws], table, target)
        projection = project(forest, 3)
        queries = X.astype(np.float32)
        sets = np.arange(200, dtype=np.uint64) % 8
        rows = core_rows(queries, 2, 5)
        cells = {"projection": projection, "sets": sets, "min_node_size": 5}
        known = _core.KnownRows(forest=forest, X=queries, **cells)
        options = search_options(pi=0.5, min_node_size=5, min_size=0, max_size=3, minimal_only=False)
        answers.append(
            (
                _core.sdp(rows=rows, n_threads=2, **cells),
                _core.quantiles(rows=known, levels=np.array([0.1, 0.5]), n_threads=2),
                _core.search(projection=projection, rows=rows, options=options, n_threads=2)[0].sdps,
            )
        )
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.update(left=a["left"][:1]), "one length"),
        (lambda a: a.update(left=np.array([9, -1, -1])), "outside its tree"),
        (lambda a: a.update(left=np.array([0, -1, -1])), "cycle"),
        (lambda a: a.update(column=np.array([7, -1, -1])), "outside its tree or its table"),
        (lambda a: a.update(rows=np.array([0, 99], dtype=np.int32)), "outside the training table"),
        (lambda a: a.update(rows=np.array([], dtype=np.int32)), "no training rows"),
        (lambda a: a.update(n_rows=np.array([9.0, 1.0, 8.0])), "not trained on these rows"),
    ],
)
def test_a_damaged_tree_is_refused(change, message):
    t = tree((0, 0.5, None, None), np.arange(9))
    arrays = {
        "left": t.left,
        "right": t.right,
        "column": t.column,
        "threshold": t.threshold,
        "missing_go_to_left": t.missing_go_to_left,
        "n_rows": node_sizes(t, GRID),
        "value": np.zeros((3, 1)),
        "rows": t.rows.astype(np.int32),
    }
    forest = _core.Forest(X=GRID.astype(np.float32), y_rank=np.zeros(9, np.uint32), y_values=np.zeros(1))
    forest.add_trees(trees=[_core.Tree(**arrays)])
    change(arrays)
    with pytest.raises(ValueError, match=message):
        forest.add_trees(trees=[_core.Tree(**arrays)])


def test_wrong_shapes_are_refused():
    forest = core_forest([tree((0, 0.5, None, None), np.arange(9))], GRID, np.arange(9))
    X, one = GRID.astype(np.float32), np.ones(9, np.uint64)
    rank = np.zeros(9, np.uint32)
    cell = {"projection": project(forest, 2), "min_node_size": 1}
    shared = {**cell, "n_threads": 1}
    rows = _core.Rows(X=X, lo=rank, hi=rank)
    with pytest.raises(ValueError, match="one set for each row"):
        _core.sdp(rows=rows, sets=one[:3], **shared)
    with pytest.raises(ValueError, match="unknown variable"):
        _core.sdp(rows=rows, sets=one * 4, **shared)
    with pytest.raises(ValueError, match="one set for each row"):
        _core.squared_weights(X=X, sets=one[:3], **shared)
    with pytest.raises(ValueError, match="unknown variable"):
        _core.squared_weights(X=X, sets=one * 4, **shared)
    for lo, hi in ((rank[:2], rank), (rank, rank[:2])):
        with pytest.raises(ValueError, match="one outcome for each row"):
            _core.Rows(X=X, lo=lo, hi=hi)
    wide = _core.Rows(X=np.zeros((9, 3), np.float32), lo=rank, hi=rank)
    cells = set_cells(forest, [0], 1, n_columns=2)
    with pytest.raises(ValueError, match="another number of columns"):
        _core.sdp(rows=wide, sets=one, **shared)
    with pytest.raises(ValueError, match="another number of columns"):
        _core.squared_weights(X=np.zeros((9, 3), np.float32), sets=one, **shared)
    with pytest.raises(ValueError, match="another number of columns"):
        _core.leaf_sdp(forest=forest, rows=wide, n_threads=1)
    with pytest.raises(ValueError, match="another number of columns"):
        _core.search(projection=shared["projection"], rows=wide, options=search_options(), n_threads=1)
    with pytest.raises(ValueError, match="another number of columns"):
        _core.find_rules(cells=cells, rows=wide, options=rule_options(), n_threads=1)
    with pytest.raises(ValueError, match="out of range"):
        set_cells(forest, [2], 1, n_columns=2)
    with pytest.raises(ValueError, match="at most 128 variables"):
        _core.Projection(forest=forest, variable_of=np.array([0, 1], np.int32), n_variables=129)
    with pytest.raises(ValueError, match="out of range"):
        _core.Projection(forest=forest, variable_of=np.array([0, 2], np.int32), n_variables=2)
    with pytest.raises(ValueError, match="points outside"):
        _core.Forest(X=X, y_rank=np.full(9, 3, np.uint32), y_values=np.zeros(2))
    with pytest.raises(ValueError, match="another forest"):
        _core.KnownRows(forest=core_forest([], GRID, np.arange(9)), X=X, sets=one, **cell)
    with pytest.raises(ValueError, match="go together"):
        _core.KnownRows(forest=forest, X=X, sets=None, **cell)
    with pytest.raises(ValueError, match="cannot run the kernels 'abacus'"):
        _core.use_kernels(name="abacus")


def test_every_argument_is_a_keyword():
    forest = core_forest([tree((0, 0.5, None, None), np.arange(9))], GRID, np.arange(9))
    rank = np.zeros(9, np.uint32)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.Rows(GRID.astype(np.float32), rank, rank)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.leaves(forest, GRID.astype(np.float32), 1)


RESULTS = [_core.SearchArrays, _core.RuleArrays]


def signatures_of_the_core():
    """By function or method: its arguments as the compiled module documents them, without `self`."""
    signatures = {}
    for name in _core.__all__:
        value = getattr(_core, name)
        functions = {name: value}
        if isinstance(value, type):
            functions = {f"{name}.{key}": vars(value)[key] for key in ("__init__", "add_trees") if key in vars(value)}
            if value in RESULTS:  # no constructor
                continue
        for key, function in functions.items():
            line = (function.__doc__ or "").partition("\n")[0]
            if name != "OtherTableError":
                signatures[key] = line.partition("(")[2].rpartition(") ->")[0].removeprefix("self, ")
    return signatures


def test_the_stub_has_the_arguments_of_the_core_and_all_are_keywords():
    stub = ast.parse(Path(_core.__file__).with_name("_native.pyi").read_text(encoding="utf-8"))
    declared = {}
    for node in ast.walk(stub):
        members = node.body if isinstance(node, ast.Module | ast.ClassDef) else []
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for member in members:
            if isinstance(member, ast.FunctionDef) and not member.decorator_list:
                assert [a.arg for a in member.args.args] == (["self"] if prefix else []), member.name
                declared[prefix + member.name] = [a.arg for a in member.args.kwonlyargs]
    signatures = signatures_of_the_core()
    assert declared == {name: re.findall(r"(?:^|, )(\w+): ", line) for name, line in signatures.items()}
    assert all(line == "" or line.startswith("*, ") for line in signatures.values())
    # More belong into a class of options, which may have as many as there are.
    assert max(len(names) for name, names in declared.items() if not name.endswith("Options.__init__")) <= 8


def test_the_stub_has_the_attributes_of_results():
    stub = ast.parse(Path(_core.__file__).with_name("_native.pyi").read_text(encoding="utf-8"))
    declared = {
        node.name: {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
        for node in stub.body
        if isinstance(node, ast.ClassDef)
    }
    for result in RESULTS:
        assert declared[result.__name__] == {name for name in dir(result) if not name.startswith("_")}


def test_results_outlive_what_they_are_part_of_and_keep_their_arrays():
    forest = core_forest([tree((0, 0.5, None, None), np.arange(9))], GRID, np.arange(9))
    rows = core_rows(GRID, np.zeros(9), np.zeros(9))
    result = _core.search(projection=project(forest, 2), rows=rows, options=search_options(), n_threads=1)[0]
    assert result.sdps is result.sdps
    with pytest.raises(AttributeError):
        result.sdps = np.zeros(3)
    offset, before = result.offset, result.offset.copy()
    del result
    np.testing.assert_array_equal(offset, before)


def test_rows_keep_their_arrays_alive():
    forest = core_forest([tree((0, 0.5, None, None), np.arange(9))], GRID, np.arange(9))
    X, rank = GRID.astype(np.float32), np.zeros(9, np.uint32)
    n_references = sys.getrefcount(X), sys.getrefcount(rank)
    rows = _core.Rows(X=X, lo=rank, hi=rank)
    assert sys.getrefcount(X) > n_references[0]
    assert sys.getrefcount(rank) > n_references[1]
    question = {"projection": project(forest, 2), "sets": np.ones(9, np.uint64), "min_node_size": 1, "n_threads": 1}
    sdp = _core.sdp(rows=rows, **question)
    temporary = _core.Rows(X=X.copy(), lo=rank.copy(), hi=rank.copy())
    np.testing.assert_array_equal(_core.sdp(rows=temporary, **question), sdp)
    del rows
    assert (sys.getrefcount(X), sys.getrefcount(rank)) == n_references


def rule_options(**options):
    return _core.RuleOptions(**{"pi": 0.9, "everywhere": False, "by_volume": False, "max_nodes": 99} | options)


def test_an_exception_in_the_progress_callback_ends_the_work():
    forest = core_forest([tree((0, 0.5, None, None), np.arange(9))], GRID, np.arange(9))
    cells = set_cells(forest, [0], 1, n_columns=2)
    projection, rows = project(forest, 2), core_rows(GRID, 0)

    def fail(done):
        raise RuntimeError(f"seen at {done}")

    shared = {"rows": rows, "n_threads": 2, "progress": fail}
    with pytest.raises(RuntimeError, match="seen at"):
        _core.search(projection=projection, options=search_options(), **shared)
    with pytest.raises(RuntimeError, match="seen at"):
        _core.find_rules(cells=cells, options=rule_options(), **shared)


USE = """
import numpy as np, warnings
from suffice import SufficientExplainer
from suffice import _core
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(60, 3))
explainer = SufficientExplainer(random_state=0).fit(X, X[:, 0])
explained = explainer.explain(X[:2])
"""
KEEP = "import ctypes; ctypes.pythonapi.Py_IncRef(ctypes.py_object(explainer))"


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        pytest.param("_core.set_leak_warnings(is_on=True)", "", marks=pytest.mark.slow),
        (f"_core.set_leak_warnings(is_on=True); {KEEP}", "nanobind: leaked"),
        pytest.param(KEEP, "", marks=pytest.mark.slow),
    ],
)
def test_nothing_is_left_at_the_end_and_what_others_keep_is_not_reported(then, expected):
    if expected and sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("nanobind does not look for leaks in a free-threaded build of Python.")
    done = subprocess.run([sys.executable, "-c", USE + then], capture_output=True, text=True, check=True)
    assert (expected in done.stderr) if expected else (done.stderr == "")


def arrays_of(t, X):
    return {
        "left": t.left,
        "right": t.right,
        "column": t.column,
        "threshold": t.threshold,
        "missing_go_to_left": t.missing_go_to_left,
        "n_rows": node_sizes(t, X),
        "value": np.arange(len(t.left), dtype=np.float64)[:, None],
        "rows": t.rows.astype(np.int32),
    }


def test_the_first_of_several_damaged_trees_is_named():
    good = arrays_of(tree((0, 0.5, None, None), np.arange(9)), GRID)
    other_rows, outside = good | {"n_rows": np.array([9.0, 1.0, 8.0])}, good | {"column": np.array([7, -1, -1])}
    for damaged, message in (((other_rows, outside), "not trained on"), ((outside, other_rows), "outside its tree")):
        forest = _core.Forest(X=GRID.astype(np.float32), y_rank=np.zeros(9, np.uint32), y_values=np.zeros(1))
        with pytest.raises(ValueError, match=message):
            forest.add_trees(trees=[_core.Tree(**arrays) for arrays in (good, *damaged)])
        forest.add_trees(trees=[_core.Tree(**good)])  # nothing of the others is left
        assert _core.leaves(forest=forest, X=GRID.astype(np.float32), n_threads=1).shape == (9, 1)


def test_nodes_out_of_reach_have_no_rows():
    good = arrays_of(tree((0, 0.5, None, None), np.arange(9)), GRID)
    lost = {name: np.concatenate([array, array[-1:]]) for name, array in good.items() if name != "rows"}
    forest = _core.Forest(X=GRID.astype(np.float32), y_rank=np.zeros(9, np.uint32), y_values=np.zeros(1))
    [n_rows] = forest.add_trees(trees=[_core.Tree(**lost, rows=good["rows"])])
    assert n_rows.tolist() == [0.0, *good["n_rows"][1:], 0.0]


def test_drawn_rows_belong_to_a_tree_each_and_to_the_table():
    good = arrays_of(tree((0, 0.5, None, None), np.arange(9)), GRID)
    forest = _core.Forest(X=GRID.astype(np.float32), y_rank=np.zeros(9, np.uint32), y_values=np.zeros(1))
    rows = good["rows"]
    for drawn, message in (
        ([rows], "drawn rows for each tree"),
        ([rows, rows[:0]], "drew no rows"),
        ([rows, rows + 1], "outside the training table"),
        ([rows, rows[:8]], "not trained on these rows"),
    ):
        with pytest.raises(ValueError, match=message):
            forest.add_trees(trees=[_core.Tree(**good)] * 2, drawn=drawn)
    forest.add_trees(trees=[_core.Tree(**good)] * 2, drawn=[rows, rows])
    for rows, is_asked, message in (([9], [[1, 1]], "outside the table"), ([0], [[1]], "an entry for each tree")):
        with pytest.raises(ValueError, match=message):
            _core.expected_ranks(forest=forest, rows=np.array(rows), is_asked=np.array(is_asked, np.uint8))


@pytest.mark.parametrize("n_rows", [1, 15, 16, 17, 5000])
@pytest.mark.parametrize("order", ["ascending", "descending", "random"])
def test_rows_in_any_order_fall_into_the_leaves_of_the_forest(n_rows, order):
    """Several trees walk through parts of the table together: more rows than one part has, and not in order."""
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 60)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[0, 0] = 0.1  # float32 of 0.1 is larger than 0.1
    rows = {"ascending": np.arange(n_rows), "descending": np.arange(n_rows)[::-1], "random": rng.permutation(n_rows)}
    first = tree((0, 0.1, (1, -0.3, None, None, 1), (2, 0.0, None, (3, 1.0, None, None)), 0), rows[order])
    trees = [first, tree((5, 0.2, None, None, 1), rows[order][: n_rows // 2 + 1])]
    forest = core_forest(trees, X, np.arange(n_rows))  # refuses trees whose leaves have other sizes
    leaves = _core.leaves(forest=forest, X=X, n_threads=1)
    for t, of_tree in enumerate(trees):
        sizes = np.bincount(leaves[of_tree.rows, t], minlength=len(of_tree.left))
        is_leaf = of_tree.left < 0
        np.testing.assert_array_equal(sizes[is_leaf], node_sizes(of_tree, X)[is_leaf])
    outcomes = np.arange(n_rows, dtype=np.uint32)
    by_leaf = [leaves[:, t][:, None] == leaves[None, of_tree.rows, t] for t, of_tree in enumerate(trees)]
    expected = np.zeros(n_rows)
    for of_tree, same in zip(trees, by_leaf, strict=True):
        holds = (of_tree.rows[None, :] == np.arange(n_rows)[:, None]) & same
        n_same = same.sum(axis=1)
        expected += np.where(n_same > 0, holds.sum(axis=1) / np.maximum(n_same, 1), np.nan)
    sdps = _core.leaf_sdp(forest=forest, rows=core_rows(X, outcomes), n_threads=1)
    known = ~np.isnan(expected)
    np.testing.assert_allclose(sdps[known], expected[known] / 2, rtol=1e-12)


def test_a_tree_must_predict_for_each_node_and_as_many_numbers_as_the_others():
    good = arrays_of(tree((0, 0.5, None, None), np.arange(9)), GRID)
    forest = _core.Forest(X=GRID.astype(np.float32), y_rank=np.zeros(9, np.uint32), y_values=np.zeros(1))
    with pytest.raises(ValueError, match="The forest has no trees"):
        _core.predict(forest=forest, X=GRID.astype(np.float32), n_threads=1)
    forest.add_trees(trees=[_core.Tree(**good)])
    with pytest.raises(ValueError, match="one prediction for each node"):
        forest.add_trees(trees=[_core.Tree(**good | {"value": np.zeros((2, 1))})])
    with pytest.raises(ValueError, match="as many numbers"):
        forest.add_trees(trees=[_core.Tree(**good | {"value": np.zeros((3, 2))})])
    assert _core.predict(forest=forest, X=GRID.astype(np.float32), n_threads=1)[:, 0].tolist() == [
        1.0 if x <= 0.5 else 2.0 for x in GRID[:, 0]
    ]
