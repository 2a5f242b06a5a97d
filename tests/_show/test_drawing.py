"""Names and groups as the plots draw them."""

from __future__ import annotations

import numpy as np

from suffice._show.drawing import COLORS, GREY, class_groups, escape, shorten


def test_long_names_are_shortened_in_their_middle():
    assert shorten("hour") == "hour"
    assert shorten("a" * 30) == "a" * 30
    assert shorten("begin" + "x" * 40 + "end") == "begin" + "x" * 14 + "…" + "x" * 7 + "end"
    assert shorten("two\nlines") == "two lines"


def test_dollars_are_no_formulas_and_underscores_are_kept_in_legends():
    assert escape("$a$") == r"\$a\$"
    assert escape(escape("$a$")) == r"\$a\$"
    assert escape("_a") == " _a"


def test_too_many_classes_share_grey_but_not_the_one_explained():
    labels = np.repeat(list("abcdefgh"), [9, 8, 7, 6, 5, 4, 3, 1])
    groups = class_groups(labels, "h")
    assert [group.label for group in groups] == ["a", "b", "c", "d", "h", "another"]
    assert [group.color for group in groups] == [*COLORS[:5], GREY]
    assert groups[-1].is_in.sum() == 5 + 4 + 3
    assert len(class_groups(labels[:39])) == 6
