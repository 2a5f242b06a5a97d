"""Forged saved explainers with the right checksum: each gives answers about its own rows, or a clear error."""

from __future__ import annotations

import re
import warnings
from contextlib import suppress

import numpy as np
from forged_files import random_forgery
from hypothesis import strategies as st

from suffice._io.explainer_file import training_rows
from suffice._io.saved import from_bytes

CASES = st.integers(0, 2**62)
MAX_BYTES = 4 * 2**30
REFUSED = re.compile("is not a valid suffice file|was written by a later version|was written before version 0.2")


def check(case):
    content = random_forgery(np.random.default_rng(case))
    try:
        explainer = from_bytes(content)
    except ValueError as error:
        if not REFUSED.search(str(error)):
            raise
        return 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer(explainer.with_settings(n_jobs=1))
    return 1


def answer(explainer):
    """Ask what can be asked about some of the explainer's own rows."""
    X, y = training_rows(explainer)
    rows = X[:6]
    explainer.predict(rows)
    explanations = explainer.explain(rows, rules="all")
    for row, explanation in enumerate(explanations):
        str(explanation)
        for rule in explanation.rules:
            assert rule.covers(rows)[row], str(rule)
            rule.to_sql()
    str(explainer.describe())
    explainer.sdp(rows, [0], y=y[:6])
    explainer.what_if(rows[:2], None if explainer.task_ == "classification" else {"above": float(np.median(y))})
    explainer.quality()
    with suppress(ValueError):  # such as a forest that cannot be grown again with its parameters
        explainer.stability(rows[:2], y[:2], n_seeds=1, n_resamples=1, random_state=0, progress=False)
