"""Each target of the fuzz holds on a few new cases, and on every seed that failed once."""

from __future__ import annotations

import random

import pytest

from fuzz.__main__ import attack, kept_seeds, target_names
from fuzz.sanitize import that_need_polars

N_FEW = 10


@pytest.mark.parametrize("target", target_names())
def test_a_target_holds_on_a_few_cases(target):
    counted, output = attack(target, random.Random(target).randrange(2**32), N_FEW)
    assert counted is not None, output
    assert counted["cases"] > 0
    assert counted["compared"] > 0


def test_the_seeds_that_failed_once_hold():
    for target, number in kept_seeds():
        counted, output = attack(target, number)
        assert counted is not None, output


def test_files_that_need_polars_are_found():
    """They cannot be run under the thread sanitizer, and one that is not found keeps all others from running."""
    found = that_need_polars(["tests/_core", "tests/_forest"])
    assert "tests/_forest/test_holdout.py" in found  # it imports polars
    assert "tests/_forest/test_ends.py" in found  # it imports a module of the tests that does
    assert "tests/_core/test_core.py" not in found
    assert len(found) < 10
