"""Odd tables: `fit` and `explain` give answers, or an error of ours that says what is wrong."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-3, 3),
    st.floats(),
    st.floats(-3, 3),
    st.sampled_from(["a", "b", "", " ", "1", "1.5", "1e400", "nan", "=1+1", "\x1b[31m", "\u202e", "2024-01-01"]),
    st.dates(datetime.date(1, 1, 1), datetime.date(9999, 12, 31)),
    st.text(max_size=3),
)
NAMES = st.one_of(st.sampled_from(["a", "b", "a.year", "", " ", '"', "`", "*", "^a$", "\n"]), st.text(max_size=4))


@st.composite
def columns(draw, n):
    values = draw(st.one_of(VALUES, st.just(None)).map(lambda value: [value]))
    kind = draw(st.sampled_from(["mixed", "numbers", "whole", "labels", "constant"]))
    of_kind = {
        "mixed": VALUES,
        "numbers": st.floats(-1e6, 1e6) | st.none(),
        "whole": st.integers(0, 5),
        "labels": st.sampled_from(["x", "y", "z"]),
        "constant": st.just(values[0]),
    }
    return draw(st.lists(of_kind[kind], min_size=n, max_size=n))


@st.composite
def tables(draw):
    n = draw(st.integers(1, 30))
    names = draw(st.lists(NAMES, min_size=1, max_size=4))
    frame = pd.concat([pd.Series(draw(columns(n)), name=name, dtype=object) for name in names], axis=1)
    if draw(st.booleans()):
        frame = frame.infer_objects()
    y = draw(st.lists(st.sampled_from([0, 1, 2]), min_size=n, max_size=n))
    return frame, np.array(y), draw(st.booleans())


CASES = tables()


def check(case):
    X, y, is_class = case
    kind = RandomForestClassifier if is_class else RandomForestRegressor
    explainer = SufficientExplainer(
        kind(n_estimators=3, random_state=0),
        task="classification" if is_class else "regression",
        dates="parts",
        n_jobs=1,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            explanations = explainer.fit(X, y).explain(X[:5])
        except (TypeError, ValueError) as error:  # what is wrong, in a sentence
            if len(str(error)) < 20:
                raise
            return 1
        for row, explanation in enumerate(explanations):
            str(explanation)
            for rule in explanation.rules:
                assert rule.covers(X[:5])[row], str(rule)
                rule.to_sql()
    return 1
