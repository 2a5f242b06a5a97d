"""The app under a few clients for half a minute; `make soak` has fifty, for ten minutes."""

from __future__ import annotations

import sys

import pytest

from fuzz.soak import describe, soak


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of the app is read from /proc")
def test_the_app_answers_some_clients_as_the_library_does():
    tally, figures = soak(0.4, 6)
    assert tally.wrong == [], describe(tally, figures)
    assert tally.counts["answers compared"] > 0
    assert tally.counts["uploads"] > 0
    assert figures["new files"] < 20
