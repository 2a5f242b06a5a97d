"""Explanations, rules, distributions and rule models as matplotlib figures; importances as a ``shap.Explanation``.

Every function takes ``ax=None`` and returns the Axes: without one it makes a new figure. Nothing is shown, and no other
figure of the user's is touched. matplotlib is imported when something is drawn. What is drawn is computed elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from suffice._show.boxes import check_columns, choose_columns, chosen_rules, draw_view, view_rules
from suffice._show.curve_figure import curve
from suffice._show.drawing import (
    BLUE,
    GREY,
    Floats,
    keep_spines,
    make_axes,
    name_with_value,
    row_title,
    say,
    say_nothing_needed,
    say_nothing_sufficient,
    set_legend,
    set_title,
    set_xlabel,
    shorten,
)
from suffice._show.figures import (
    Distributions,
    change,
    draw_distributions,
    draw_measures,
    draw_sets,
    held_variables,
)
from suffice._show.quality_figure import quality
from suffice._text import counted, format_value
from suffice.errors import check_number
from suffice.explainer import SufficientExplainer
from suffice.explaining.explanation import Explanation, SufficientSet
from suffice.explaining.explanations import Explanations
from suffice.explaining.importance import (
    IMPORTANCE_MEANINGS,
    IMPORTANCE_NAMES,
    SHOWN_INDEX,
    ImportanceIndex,
    SetsKind,
    check_importance,
    rank_importance,
)
from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "cdf",
    "change",
    "coverage_precision",
    "curve",
    "importance",
    "importance_heatmap",
    "label_importance",
    "quality",
    "rule",
    "sets",
    "to_shap",
]

MAX_ORDERED = 300  # the optimal order of n patterns takes n^3 steps at worst
ROWS_WITH_NUMBERS = 30


def importance(
    explanations: Explanations | Explanation | Sequence[Explanation],
    *,
    sets: SetsKind = "all",
    index: ImportanceIndex = SHOWN_INDEX,
    n_variables: int = 15,
    ax: Axes | None = None,
) -> Axes:
    """Draw the importance of the variables for a row, or its mean over rows, as bars.

    Parameters
    ----------
    explanations : Explanations, Explanation or sequence of Explanation
        What is drawn. The importances of several rows are averaged over those with a sufficient set.
    sets : {"all", "minimal"}, default="all"
        Which sufficient sets count.
    index : {"responsibility", "share"}, default="responsibility"
        How importance is counted: see `Explanation.importance_by`; "share" is the LXI.
    n_variables : int, default=15
        How many variables are drawn at most. The others share one grey bar: that of the largest among them.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.

    Examples
    --------
    >>> from suffice import SufficientExplainer
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> explanations = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0).explain(X[:9])
    >>> ax = importance(explanations)
    >>> ax.get_title(loc="left")
    'Mean of 9 rows'
    """
    _check_n_variables(n_variables)
    one = explanations if isinstance(explanations, Explanation) else None
    names, _, has_set = _importances(explanations, sets, index)
    values, shown = _mean_and_first(explanations, sets, index, n_variables)
    labels = [name_with_value(one, names[v]) if one is not None else shorten(names[v]) for v in shown]
    widths, colors = values[shown].tolist(), [BLUE] * len(shown)
    others = np.delete(values, shown)
    if len(others):
        at_most = " (at most)" if others.max() > 0 else ""
        labels.append(f"{len(others)} other{'' if len(others) == 1 else 's'}{at_most}")
        widths.append(float(others.max()))
        colors.append(GREY)
    ax = make_axes(ax, 7.0, 1.5 + 0.3 * max(len(labels), 3))
    if not has_set.any():
        return say_nothing_sufficient(ax, one)
    if not values.any():
        return say_nothing_needed(ax, one)
    bars = ax.barh(range(len(labels)), widths, color=colors, height=0.7)
    ax.bar_label(bars, [f"{width:.2f}" if width else "0" for width in widths], padding=3)
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.1 * (1.0 if one is not None else max(widths)))
    one_of_them = "minimal sufficient set" if sets == "minimal" else "sufficient set"
    if one is not None:
        n_sets = len(one.sufficient_sets if sets == "all" else one.minimal_sets)
        ax.set_xticks(np.linspace(0, 1, 6))
        set_xlabel(ax, f"{IMPORTANCE_NAMES[index]}: {IMPORTANCE_MEANINGS[index]}")
        set_title(ax, f"{row_title(one)}\n{counted(n_sets, one_of_them)}")
    else:
        over = " over minimal sets" if sets == "minimal" else ""
        set_xlabel(ax, f"mean {IMPORTANCE_NAMES[index]}{over}: {IMPORTANCE_MEANINGS[index]}")
        n_rows = int(np.count_nonzero(has_set))
        of_all = "" if n_rows == len(has_set) else f" with a sufficient set, of {len(has_set)} in all"
        set_title(ax, f"Mean of {counted(n_rows, 'row')}{of_all}")
    ax.tick_params(axis="y", length=0)
    return keep_spines(ax, "left")


def importance_heatmap(
    explanations: Explanations | Sequence[Explanation],
    *,
    sets: SetsKind = "all",
    index: ImportanceIndex = SHOWN_INDEX,
    n_variables: int = 15,
    max_rows: int = 2000,
    ax: Axes | None = None,
) -> Axes:
    """Draw the importances of many rows as a map, with similar rows side by side.

    Parameters
    ----------
    explanations : Explanations or sequence of Explanation
        What is drawn. Rows without a sufficient set are grey.
    sets : {"all", "minimal"}, default="all"
        Which sufficient sets count.
    index : {"responsibility", "share"}, default="responsibility"
        How importance is counted: see `Explanation.importance_by`; "share" is the LXI.
    n_variables : int, default=15
        How many variables are drawn at most: those with the largest mean importance.
    max_rows : int, default=2000
        The largest number of rows drawn; from more rows, this many are chosen at random.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.
    """
    _check_n_variables(n_variables)
    check_number("max_rows", max_rows, "a whole number >= 1", lambda v: v >= 1, Integral)
    if isinstance(explanations, Explanation):
        raise TypeError("`importance_heatmap` draws several rows; for one see `importance`.")
    names, matrix, has_set = _importances(explanations, sets, index)
    n_rows = len(matrix)
    rows = np.arange(n_rows)
    if n_rows > max_rows:
        rows = np.sort(np.random.default_rng(0).choice(n_rows, max_rows, replace=False))
    _, shown = _mean_and_first(explanations, sets, index, n_variables)
    ax = make_axes(ax, 2.8 + 0.42 * max(len(shown), 6), 2.6 + min(4.0, 0.22 * max(len(rows), 4)))
    if not has_set.any():
        return say_nothing_sufficient(ax, None)
    if not len(shown):
        return say_nothing_needed(ax, None)
    matrix = matrix[:, shown]
    with_set = rows[has_set[rows]]
    order = np.concatenate([with_set[_order_alike(matrix[with_set])], rows[~has_set[rows]]])
    drawn = np.where(has_set[order, None], matrix[order], np.nan)
    import matplotlib

    colors = matplotlib.colormaps["Blues"].with_extremes(bad="#D9D9D9")
    image = ax.imshow(drawn, aspect="auto", interpolation="nearest", cmap=colors, vmin=0, vmax=1)
    ax.figure.colorbar(image, ax=ax, label=IMPORTANCE_NAMES[index], pad=0.02)
    ax.set_xticks(range(len(shown)), [shorten(names[v]) for v in shown])
    ax.tick_params(axis="x", length=0)
    for tick in ax.get_xticklabels():
        tick.set(rotation=45, ha="right", rotation_mode="anchor")
    of_all = f" of {n_rows}" if len(rows) < n_rows else ""
    if len(rows) <= ROWS_WITH_NUMBERS:
        labels = [one.label.removeprefix("Row ") if one.is_named else str(i) for i, one in enumerate(explanations)]
        ax.set_yticks(range(len(order)), [shorten(labels[row]) for row in order])
        ax.set_ylabel("row")
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(rows)}{of_all} rows, similar ones together")
    n_empty = int(np.count_nonzero(~has_set[rows]))
    grey = f"\nGrey: {counted(n_empty, 'row')} without a sufficient set" if n_empty else ""
    set_title(ax, f"Importance: {IMPORTANCE_MEANINGS[index]}{grey}")
    return keep_spines(ax, "left", "bottom")


def sets(explanation: Explanation, *, n_sets: int = 10, ax: Axes | None = None) -> Axes:
    """Draw the sufficient sets of a row: which variables each holds (dots), and how sure it is (bars).

    Parameters
    ----------
    explanation : Explanation
        The row's explanation.
    n_sets : int, default=10
        How many sets are drawn at most, the smallest and then the surest first. If the row has none, the set that comes
        nearest is drawn in grey.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure. The sets stand side by side; the rows of dots are at 0, 1, ... from the
        top, and the bars stand above them, three units for a probability of 1.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.
    """
    check_number("n_sets", n_sets, "a whole number >= 1", lambda v: v >= 1, Integral)
    if not isinstance(explanation, Explanation):
        raise TypeError(f"`sets` draws one row, such as explanations[0], got {type(explanation).__name__}.")
    drawn: tuple[SufficientSet, ...] = explanation.sufficient_sets[:n_sets] or (explanation.shown_set,)
    names = held_variables(explanation, drawn)
    ax = make_axes(ax, 3.6 + 0.55 * max(len(drawn), 3), 2.3 + 0.3 * max(len(names), 1))
    draw_sets(ax, explanation, drawn, names)
    return keep_spines(ax)


def rule(
    explanations: Explanations,
    row: int | None = None,
    variables: str | Sequence[str] | None = None,
    *,
    which: int | Literal["all"] = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw a rule of a row as a box over the training rows, on one or two columns.

    The training rows drawn are those that satisfy the rule's conditions on all other columns, 5000 of them at most.

    Parameters
    ----------
    explanations : Explanations
        The explanations, made with rules.
    row : int, default=None
        The position of the explained row, which is marked by a ring. None takes the first row with a rule.
    variables : str or sequence of str, default=None
        One or two columns. None takes the two by which the rule keeps out the most rows with another outcome.
    which : int or "all", default=0
        Which of the row's rules; "all" draws up to five that ask about the columns drawn. By default, `explain` finds
        one rule for each row: with ``rules="all"`` it finds more.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.
    """
    if not isinstance(explanations, Explanations):
        raise TypeError(f"`rule` needs all explanations and the position of a row, got {type(explanations).__name__}.")
    if row is None:
        row = next((i for i, rules_of_row in enumerate(explanations.answers.rules) if rules_of_row), 0)
    explanation = explanations[row]
    rules = chosen_rules(explanation, which)
    if not rules:
        return say_nothing_sufficient(make_axes(ax, 6.5, 4.0), explanation)
    table, outcomes = explanations.training
    if variables is None:
        names = choose_columns(rules, table, explanation.keeps(outcomes))
    else:
        names = check_columns(explanation, variables)
    if not names:
        return say(make_axes(ax, 6.5, 4.0), f"{rules[0]}\nThe rule has no bounds.")
    view = view_rules(explanations, explanation, rules, names)
    ax = make_axes(ax, 7.8, (4.2 if len(names) == 2 else 3.2) + len(view.title) / 350)
    draw_view(ax, view)
    target = str(explanations.about.get("target", "y"))
    has_title = explanation.interval is None and target != "y"
    set_legend(ax, target if has_title else None, [group.label for group in view.groups])
    set_title(ax, view.title)
    return keep_spines(ax, "left", "bottom")


def cdf(
    explainer: SufficientExplainer,
    X_row: Any,
    S: Any,
    *,
    y: Any = None,
    values: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the distribution of a row's outcome when only S is known, and when all variables are (regression only).

    Parameters
    ----------
    explainer : SufficientExplainer
        The fitted explainer.
    X_row : array-like or frame of shape (1, n_columns)
        The row.
    S : list of str or int
        The variables that are known, by name or position.
    y : float, default=None
        The outcome; None for what is predicted.
    values : array-like of shape (n_values,), default=None
        Where the distributions are computed; None takes their quantiles at 500 levels.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.
    """
    check_is_fitted(explainer)
    if explainer.task_ != "regression":
        raise ValueError("`cdf` draws the distribution of a number, but `y` held classes. See `predict_proba`.")
    if isinstance(S, str):
        raise TypeError(f"`S` must be a list of variables, such as [{S!r}].")
    levels = np.linspace(0, 1, 501)
    quantiles = explainer.quantile(X_row, levels)
    if len(quantiles) != 1:
        raise ValueError(f"`X_row` must be one row, such as X[:1], got {len(quantiles)}.")
    if values is None:
        at = np.unique(np.concatenate([quantiles[0], explainer.quantile(X_row, levels, S)[0]]))
    else:
        at = np.unique(np.atleast_1d(np.asarray(values, dtype=np.float64)))
    known_outcome = None if y is None else np.atleast_1d(np.asarray(y, dtype=np.float64))
    outcomes = explainer.outcomes(X_row, known_outcome)
    assert outcomes.intervals is not None
    outcome, (low, high) = float(outcomes.values[0]), outcomes.intervals[0]
    sdp = explainer.sdp(X_row, S, known_outcome)[0]

    margin = 0.04 * ((at[-1] - at[0]) or 1.0)
    grid = np.concatenate([[at[0] - margin], at, [at[-1] + margin]])
    names = [n if isinstance(n, str) else explainer.variable_names_[n] for n in S]
    distributions = Distributions(
        grid=grid,
        of_set=explainer.cdf(X_row, S, grid)[0],
        of_all=explainer.cdf(X_row, None, grid)[0],
        variables=tuple(names),
        outcome=outcome,
        interval=(float(low), float(high)),
        sdp=float(sdp),
        target=explainer.target_name_,
    )
    ax = make_axes(ax, 7.2, 4.4)
    draw_distributions(ax, distributions)
    return keep_spines(ax, "left", "bottom")


def coverage_precision(
    rule_list: GlobalRulesClassifier | GlobalRulesRegressor, *, X: Any = None, y: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw the rules of a list by how many rows they cover and how precise they are there.

    Each rule is a disc, the larger the more training rows it covers. The step line joins the rules that no other one
    beats in both; the black line leads from the first rule of the list, by the first two together and so on, to all.

    Parameters
    ----------
    rule_list : GlobalRulesClassifier or GlobalRulesRegressor
        The fitted list of rules.
    X : array-like or frame of shape (n_rows, n_columns), default=None
        Rows on which coverage and precision are measured; None for the training rows.
    y : array-like of shape (n_rows,), default=None
        Their outcomes.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn. Precision is the accuracy or, for a regression, ``1 - MSE / var(y)`` with the variance of
        the training outcomes.
    """
    measured = rule_list.evaluate(X, y)
    ax = make_axes(ax, 7.8, 4.6)
    if not measured.covers.any():
        return say(ax, "No rule covers any of these rows." if rule_list.rules_ else "The list has no rules.")
    n_used = draw_measures(ax, rule_list, measured)
    set_title(ax, f"{counted(n_used, 'rule')} on {len(measured.outcomes)} {'training ' if X is None else ''}rows")
    return keep_spines(ax, "left", "bottom")


def to_shap(
    explanations: Explanations | Explanation | Sequence[Explanation],
    *,
    sets: SetsKind = "all",
    index: ImportanceIndex = SHOWN_INDEX,
) -> Any:
    """Return the importances as a ``shap.Explanation``, for shap's own plots.

    Parameters
    ----------
    explanations : Explanations, Explanation or sequence of Explanation
        The explanations.
    sets : {"all", "minimal"}, default="all"
        Which sufficient sets count.
    index : {"responsibility", "share"}, default="responsibility"
        How importance is counted: see `Explanation.importance_by`; "share" is the LXI.

    Returns
    -------
    shap.Explanation
        Values of shape (n_rows, n_variables), or (n_variables,) of one Explanation; the rows' own values as data, for
        a group of columns as text; base values 0. shap calls all values "SHAP values": `label_importance` mends this.
    """
    try:
        import shap
    except ImportError:
        raise ImportError("`to_shap` needs shap: pip install shap.") from None
    names, matrix, _ = _importances(explanations, sets, index)
    rows = [explanations] if isinstance(explanations, Explanation) else explanations
    cells = [[_cell(columns) for _, columns in explanation.values] for explanation in rows]
    data = np.array(cells, dtype=object).reshape(matrix.shape)
    if all(isinstance(cell, float | int) for cell in data.flat):
        data = data.astype(np.float64)
    if isinstance(explanations, Explanation):
        return shap.Explanation(matrix[0], base_values=0.0, data=data[0], feature_names=list(names))
    return shap.Explanation(matrix, base_values=np.zeros(len(matrix)), data=data, feature_names=list(names))


def label_importance(ax: Axes) -> Axes:
    """Name the importance in a plot that shap has drawn of `to_shap`: shap writes "SHAP value" on the axis.

    Parameters
    ----------
    ax : matplotlib Axes
        What a plot of shap returns, as in ``label_importance(shap.plots.bar(to_shap(explanations), show=False))``.
        Plots for values that add up to the output (``waterfall``, ``force``) have no such axis; do not use them:
        importances do not add up to anything.

    Returns
    -------
    matplotlib Axes
        The same axes.
    """
    figure = ax.get_figure()
    # The scale of colours is beside the axes, and its label is on the other side.
    for part in figure.axes if figure else [ax]:
        for label, rename in ((part.get_xlabel(), part.set_xlabel), (part.get_ylabel(), part.set_ylabel)):
            if "SHAP value" in label:
                rename("mean importance" if label.startswith("mean") else "importance")
    return ax


def _importances(
    explanations: Explanations | Explanation | Sequence[Explanation], sets: SetsKind, index: ImportanceIndex
) -> tuple[tuple[str, ...], Floats, NDArray[np.bool_]]:
    """Return the variables, the importances of each row, and which rows have a sufficient set."""
    check_importance(index, sets)
    if isinstance(explanations, Explanations):
        return explanations.variable_names, explanations.importance_matrix(sets, index=index), explanations.has_set
    rows = [explanations] if isinstance(explanations, Explanation) else list(explanations)
    if not rows or not all(isinstance(row, Explanation) for row in rows):
        raise TypeError("`explanations` must be what `explain` gave: Explanations, or some of them.")
    matrix = np.array([list(row.importance_by(index, sets).values()) for row in rows])
    return tuple(name for name, _ in rows[0].values), matrix, np.array([row.is_sufficient for row in rows])


def _mean_and_first(
    explanations: Explanations | Explanation | Sequence[Explanation],
    sets: SetsKind,
    index: ImportanceIndex,
    n_variables: int,
) -> tuple[Floats, list[int]]:
    """Average importances over the rows with a sufficient set, and return the places of the first variables."""
    names, matrix, has_set = _importances(explanations, sets, index)
    mean = matrix[has_set].mean(axis=0) if has_set.any() else np.zeros(len(names))
    if isinstance(explanations, Explanation | Explanations):
        ranked = explanations.ranked_importance(sets=sets, index=index)
    else:
        _, shares, _ = _importances(explanations, sets, "share")
        share = shares[has_set].mean(axis=0) if has_set.any() else mean
        ranked = rank_importance(*(dict(zip(names, values.tolist(), strict=True)) for values in (mean, share)))
    return mean, [names.index(name) for name, _ in ranked[:n_variables]]


def _order_alike(matrix: Floats) -> NDArray[np.intp]:
    """Order rows such that equal ones stand together, and similar ones near each other."""
    patterns, pattern_of = np.unique(matrix, axis=0, return_inverse=True)
    rank = np.arange(len(patterns))
    if len(patterns) > 2:
        from scipy.cluster.hierarchy import leaves_list, linkage

        tree = linkage(patterns, "average", optimal_ordering=len(patterns) <= MAX_ORDERED)
        rank[leaves_list(tree)] = np.arange(len(patterns))
    return np.argsort(rank[pattern_of.ravel()], kind="stable")


def _cell(columns: Sequence[tuple[str, Any]]) -> Any:
    """Return the value of a variable as shap takes it."""
    if len(columns) == 1:
        return math.nan if columns[0][1] is None else columns[0][1]
    return ", ".join(f"{name} = {format_value(value)}" for name, value in columns)


def _check_n_variables(n_variables: int) -> None:
    check_number("n_variables", n_variables, "a whole number >= 1", lambda v: v >= 1, Integral)
