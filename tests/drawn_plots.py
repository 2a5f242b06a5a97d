"""A table, explanations of it and of our own, and what is found on axes: shared by the tests of plots."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from suffice import Explanation, Explanations, Rule, SufficientExplainer, SufficientSet

LONG = "monthly charges before tax and discount"


@functools.cache
def mixed_table():
    """A frame with whole numbers, missing numbers, categories and a long name; and classes."""
    rng = np.random.default_rng(0)
    n = 400
    hour = rng.integers(0, 24, n)
    temp = rng.normal(15, 5, n)
    temp[rng.random(n) < 0.1] = np.nan
    weather = rng.choice(["rain", "mist", "clear"], n)
    X = pd.DataFrame({"hour": hour, "temp": temp, "weather": weather, LONG: rng.normal(size=n)})
    return X, np.where((hour >= 7) & (weather != "rain"), "busy", "calm")


@functools.cache
def numbers():
    X, _ = mixed_table()
    rng = np.random.default_rng(1)
    return pd.Series(10.0 * X["hour"] + rng.normal(size=len(X)), name="count")


@functools.cache
def explainer_of_classes():
    return SufficientExplainer(random_state=0, n_jobs=1).fit(*mixed_table())


@functools.cache
def explainer_of_numbers():
    return SufficientExplainer(random_state=0, n_jobs=1).fit(mixed_table()[0], numbers())


@functools.cache
def all_explanations():
    return explainer_of_classes().explain(mixed_table()[0][:40], sets="all", rules="all")


def row_values(*values):
    return tuple((name, ((name, value),)) for name, value in zip("abcde", values, strict=True))


def explanation(**changes):
    sets = tuple(SufficientSet(*s) for s in [(("a",), 0.97), (("b", "c"), 0.95), (("b", "d"), 0.9)])
    plain = {
        "outcome": "busy",
        "interval": None,
        "pi": 0.9,
        "sufficient_sets": sets,
        "best_set": sets[0],
        "values": row_values(1, 2.5, "rain", None, 5),
    }
    return Explanation(**{**plain, **changes})


def insufficient():
    return explanation(sufficient_sets=(), best_set=SufficientSet(("a", "b"), 0.71))


def ticks(ax, axis="y"):
    return [tick.get_text() for tick in (ax.get_yticklabels() if axis == "y" else ax.get_xticklabels())]


def texts(ax):
    return [text.get_text() for text in ax.findobj(Text) if text.get_text()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def boxes(ax):
    return [patch for patch in ax.patches if isinstance(patch, Rectangle) and not patch.get_fill()]


def extents(box):
    return box.get_x(), box.get_x() + box.get_width(), box.get_y(), box.get_y() + box.get_height()


def span_of(patch):
    """The ends of a shaded span, which is a polygon before Matplotlib 3.9 and a rectangle later."""
    box = patch.get_path().transformed(patch.get_patch_transform()).get_extents()
    return box.x0, box.x1


def points(ax):
    return {collection.get_label(): np.asarray(collection.get_offsets()) for collection in ax.collections}


def ring(ax):
    [line] = [line for line in ax.lines if line.get_marker() == "o" and line.get_label().startswith("Row ")]
    return [float(v[0]) for v in line.get_data()]


def one_rule(explanations, *conditions, row=0, **changes):
    """The explanations with a rule of our own for a row."""
    e = explanations[row]
    figures = {"sdp": 0.95, "support": 9, "coverage": 0.1, "precision": 1.0, "mae": None, "optimal": True, "bound": 9.0}
    box = Rule(conditions, e.outcome, e.interval, everywhere=False, **{**figures, **changes})
    rules = list(explanations.answers.rules)
    rules[row] = (box,)
    answers = explanations.answers._replace(rules=rules)
    return Explanations(answers, explanations.fitted, explanations.sets, explanations.library)
