"""Sets of variables with their probability as values."""

from __future__ import annotations

from suffice.explaining.explanation import SufficientSet


def test_a_set_shows_its_bound():
    assert str(SufficientSet(("hour",), 0.937, 0.889)) == "hour (SDP 0.93, at least 0.88)"


def test_the_bound_does_not_count_when_sets_are_compared():
    assert SufficientSet(("hour",), 0.9, 0.8) == SufficientSet(("hour",), 0.9)
    assert SufficientSet(("hour",), 0.9) != SufficientSet(("hour",), 0.8)
