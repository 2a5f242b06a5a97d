"""Every claim of a saved file is checked against its data."""

from __future__ import annotations

import re

import numpy as np
import pytest
from forged_files import count_draws, forge, honest
from fuzz.__main__ import attack

from suffice._io.saved import from_bytes
from suffice._io.saved_parts import MAX_DEPTH


def put(*path):
    """A change that sets the value at a path of the header."""
    *keys, last, value = path

    def change(header, arrays):
        place = header
        for key in keys:
            place = place[key]
        place[last] = value

    return change


def put_in(name, at, value):
    """A change that sets a value of an array."""

    def change(header, arrays):
        arrays[name][at] = value

    return change


def drop(name):
    return lambda header, arrays: arrays.pop(name)


HOUR, TEMP, WEATHER, OPEN = range(4)
CLAIMS = {
    "fractions in a whole column": (
        put_in("X", (3, HOUR), 2.5),
        "fractions, but is declared as whole numbers",
    ),
    "a column of fractions called whole": (put("columns", TEMP, "kind", "whole"), "column 'temp' holds fractions"),
    "large numbers in a whole column": (
        put_in("X", (0, HOUR), 2.0**24),
        "whole numbers that are too large",
    ),
    "a value outside the range": (put_in("X", (0, TEMP), 1e6), "column 'temp' holds numbers outside its range"),
    "a range without a beginning": (put("columns", TEMP, "extent", [float("nan"), 3]), "invalid range of 'temp'"),
    "a range upside down": (put("columns", TEMP, "extent", [90, -90]), "invalid range of 'temp'"),
    "a range of words": (put("columns", TEMP, "extent", ["0", "90"]), "invalid range of 'temp': '0'"),
    "an unknown category": (put_in("X", (0, WEATHER), 3), "column 'weather' holds unknown categories"),
    "a category twice": (
        put("columns", WEATHER, "labels", [["mist"], ["mist"], ["rain"]]),
        "categories of 'weather'",
    ),
    "two common categories": (
        put("columns", WEATHER, "labels", [["a", "b"], ["c"], ["d"]]),
        "categories of 'weather'",
    ),
    "a missing category": (put("columns", WEATHER, "labels", [["a"], ["b"], [float("nan")]]), "invalid categories of"),
    "a number with categories": (put("columns", TEMP, "labels", [["a"]]), "invalid categories of 'temp'"),
    "another name of a column": (put("columns", TEMP, "name", "other"), "invalid column name or kind"),
    "two columns of one source": (put("columns", TEMP, "source", HOUR), "invalid column name or kind"),
    "names that are no list": (put("names", "abcd"), "invalid column names"),
    "a flag that is a number": (put("has_names", 1), "invalid has_names: 1"),
    "missing values refused": (put("forest", "takes_missing", False), "which the forest does not support"),
    "another number of trees": (put("forest", "n_estimators", 4), "the number of trees differs from the header"),
    "leaves of no size": (put("forest", "min_samples_leaf", -2), "invalid leaf size: -2"),
    "classes in another order": (put("classes", ["late", "early"]), "the classes are not sorted"),
    "a class twice": (put("classes", ["late", "late"]), "the classes are not sorted"),
    "classes of numbers": (put("classes", [0, 1]), "one of them has another type"),
    "classes too long": (put("classes_type", "<U2"), "one of them is too long"),
    "classes of objects": (put("classes_type", "|O"), "invalid classes"),
    "classes for a regression": (put("task", "regression"), "array 'value' has shape"),
    "outcomes that are no classes": (put_in("y_values", 1, 7.0), "the outcomes do not match the classes"),
    "an unknown outcome": (put_in("y_rank", 0, 9), "a row has an unknown outcome"),
    "classes that are probabilities": (put("is_probability", True), "the outcomes are not probabilities"),
    "a radius of classes": (put("params", "radius", 1.0), "`radius` is for regression"),
    "a share of a class": (put("fidelity_by_class", [0.5, 2.0]), "invalid class shares"),
    "a share of words": (put("fidelity_by_class", ["1", "1"]), "invalid class share: '1'"),
    "a fidelity of words": (put("fidelity", "1.0"), "invalid fidelity: '1.0'"),
    "an outcome without a name": (put("target", None), "invalid target name"),
    "shares out of bag that miss": (put_in("out_of_bag", 0, 0.2), "invalid out-of-bag probabilities"),
    "scores of classes": (
        lambda header, arrays: arrays.update(interval_scores=np.zeros(3)),
        "the interval scores are not sorted",
    ),
    "a cycle": (put_in("left", 0, 0), "The nodes of a tree form a cycle"),
    "a child outside": (put_in("right", 0, 10**6), "A tree node points outside its tree"),
    "a row that is not there": (put_in("counted", -1, 40), "a tree counts an unknown row"),
    "rows in disorder": (put_in("counted", 0, 39), "the rows of a tree are not in order"),
    "a tree without rows": (put_in("n_counted", 0, 0), "a tree drew no rows, or too many"),
    "fewer rows than listed": (put_in("n_counted", 0, 1), "array 'counted' has shape"),
    "rows that are drawn never": (
        lambda header, arrays: (count_draws(arrays), arrays["n_drawn"][0].fill(0)),
        "a tree drew no rows, or too many",
    ),
    "no arrays": (drop("X"), "KeyError: 'X'"),
}


@pytest.mark.parametrize(("change", "message"), CLAIMS.values(), ids=CLAIMS)
def test_a_claim_that_the_data_refute_is_refused(change, message):
    """A forged "whole" column with fractions made `round_whole_end` loop for ever."""
    from_bytes(forge(lambda header, arrays: None))
    with pytest.raises(ValueError, match=f"is not a valid suffice file: .*{re.escape(message)}"):
        from_bytes(forge(change))


@pytest.mark.parametrize("claim", [name for name in CLAIMS if "column" in name or name == "an unknown category"])
def test_claims_are_checked_in_a_table_without_missing_values(claim):
    def fill(header, arrays):
        arrays["X"][np.isnan(arrays["X"])] = 20.5

    def change_filled(header, arrays):
        fill(header, arrays)
        change(header, arrays)

    change, message = CLAIMS[claim]
    from_bytes(forge(fill))
    with pytest.raises(ValueError, match=re.escape(message)):
        from_bytes(forge(change_filled))


OF_NUMBERS = {
    "an outcome of no row": (
        lambda header, arrays: arrays.update(y_values=np.append(arrays["y_values"], 1e6)),
        "no row",
    ),
    "probabilities above 1": (put("is_probability", True), "the outcomes are not probabilities"),
    "a radius of words": (put("default_radius", "3"), "invalid radius: '3'"),
    "unknown levels": (put("params", "levels", "odd"), "`levels` must be one of ['same', 'odds'], got 'odd'"),
    "infinite predictions": (put_in("value", (0, 0), np.inf), "the forest predicts infinite numbers"),
}


@pytest.mark.parametrize(("change", "message"), OF_NUMBERS.values(), ids=OF_NUMBERS)
def test_a_claim_about_numbers_that_the_data_refute_is_refused(change, message):
    from_bytes(forge(lambda header, arrays: None, "numbers"))
    with pytest.raises(ValueError, match=f"is not a valid suffice file: .*{re.escape(message)}"):
        from_bytes(forge(change, "numbers"))


def chain(depth):
    """Make the first tree a chain of splits."""

    def change(header, arrays):
        n_old, n = int(arrays["n_nodes"][0]), 2 * depth + 1
        splits = 2 * np.arange(depth)
        first = {name: np.zeros((n, *arrays[name].shape[1:]), arrays[name].dtype) for name in NODES}
        first["left"][:], first["right"][:], first["value"][:] = -1, -1, 0.5
        first["left"][splits], first["right"][splits] = splits + 2, splits + 1
        for name, values in first.items():
            arrays[name] = np.concatenate([values, arrays[name][n_old:]])
        arrays["n_nodes"][0] = n

    return change


NODES = ("left", "right", "column", "threshold", "missing_left", "n_rows", "value")


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 40_000])
def test_the_depth_of_a_tree_is_bounded(depth):
    """A chain of 40,000 splits overflowed the stack and ended the process."""
    with pytest.raises(ValueError, match="a tree is more than 20,000 splits deep"):
        from_bytes(forge(chain(depth)))


def test_a_deep_tree_is_read():
    with pytest.raises(ValueError, match=r"rows .*do not fall into"):
        from_bytes(forge(chain(5_000)))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("max_leaf_nodes", 10**9, "for a tree that is grown again with max_leaf_nodes=1000000000"),
        ("max_samples", 10**9, "for a tree that is grown again with max_samples=1000000000"),
        ("max_depth", 2**70, "invalid max_depth of the forest: 1180591620717411303424"),
        ("monotonic_cst", {}, "invalid monotonic_cst of the forest: {}"),
        ("monotonic_cst", [0, [0]], r"invalid monotonic_cst of the forest: \[0, \[0\]\]"),
    ],
)
def test_a_forest_that_cannot_be_grown_again_is_refused(name, value, message):
    """`stability` asked for 128 GB, or ended with an OverflowError or an IndexError."""

    def change(header, arrays):
        header["forest"][name] = value

    with pytest.raises(ValueError, match=message):
        from_bytes(forge(change))


@pytest.mark.slow
def test_a_thousand_forged_files_are_refused_or_give_answers():
    """In a process with 4 GiB of memory and four minutes of processor time."""
    counted, output = attack("saved_files", 1, 1000)
    assert counted is not None, output
    assert counted["cases"] >= 1000


def test_drawn_rows_of_earlier_versions_are_passed_over():
    """Until 0.2, `for_model(drawn_rows=...)` kept rows besides the table. Such files stay readable."""

    def change(header, arrays):
        arrays["drawn_X"], arrays["drawn_y"] = arrays["X"][:3], np.zeros(3)
        arrays["drawn_parents"] = np.zeros((3, 2), dtype="<u4")

    explainer, before = from_bytes(forge(change)), from_bytes(honest())
    X, y = before.training
    assert str(explainer.explain(X, y)) == str(before.explain(X, y))
