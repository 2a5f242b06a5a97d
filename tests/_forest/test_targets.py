"""Wanted outcomes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from suffice._forest.outcomes import Target, read_targets, wanted_flags

CLASSES = np.array(["a", "b", "c"])
ROWS = np.array(["a", "b"])


def test_classes_may_be_wanted_or_excluded():
    assert [t.text for t in read_targets("b", ROWS, CLASSES)] == ["b", "b"]
    assert read_targets(["c", "b"], ROWS, CLASSES)[0].labels == ("b", "c")
    assert [t.text for t in read_targets(None, ROWS, CLASSES)] == ["not a", "not b"]
    assert read_targets({"not": "a"}, ROWS, CLASSES)[0].labels == ("b", "c")
    assert read_targets("7", np.array([7]), np.array([7, 8]))[0].labels == (7,)


def test_numbers_include_their_ends():
    low, high = read_targets((2, 5), np.array([1.0, 9.0]), None)[0], read_targets({"more": 3}, np.array([4.0]), None)[0]
    assert low.holds(np.array([1.0, 2.0, 5.0, 5.1])).tolist() == [False, True, True, False]
    assert (high.low, high.high) == (7.0, math.inf)
    assert read_targets({"less": 3}, np.array([4.0]), None)[0].high == 1.0
    assert read_targets((None, 3), np.array([4.0]), None)[0].text == "at most 3"


@pytest.mark.parametrize(
    "target", [None, 5, (1, 2, 3), {"over": 3}, (5, 2), (None, None), {"more": -1}, {"above": "x"}]
)
def test_other_numbers_are_refused(target):
    with pytest.raises(ValueError, match="`target`"):
        read_targets(target, np.array([1.0]), None)


def test_flags_are_made_once_for_each_target():
    flags, number = wanted_flags(read_targets(None, np.array(["a", "b", "a"]), CLASSES), np.arange(3.0), CLASSES)
    assert flags.tolist() == [[0, 1, 1], [1, 0, 1]]
    assert number.tolist() == [0, 1, 0]


def test_targets_are_written_as_parts_of_sentences():
    ranges = [(200, 250), {"above": 200}, {"below": 7}, (5, 5)]
    texts = [read_targets(target, np.array([1.0]), None)[0].text for target in ranges]
    assert texts == ["between 200 and 250", "at least 200", "at most 7", "5"]
    labels = np.array(["bad", "fair", "good"])
    assert read_targets(["fair", "good"], labels[:1], labels)[0].text == "fair or good"


@pytest.mark.parametrize(
    ("labels", "outcomes", "wanted"),
    [
        ((1, 3), np.array([1, 2, 3]), [True, False, True]),
        ((1,), np.array(["1", "2"]), [False, False]),  # text that looks like a number
        (("a",), np.array(["a", "b", 1], dtype=object), [True, False, False]),
        ((True,), np.array([True, False]), [True, False]),
        (("a",), np.array([], dtype="U1"), []),
    ],
)
def test_labels_are_compared_as_they_are(labels, outcomes, wanted):
    assert Target(labels, 0.0, 0.0, "").holds(outcomes).tolist() == wanted
