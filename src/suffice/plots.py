"""Explanations, rules and rule models as matplotlib figures.

Every function takes ``ax=None`` and returns the Axes: without one it makes a new figure. Nothing is shown, and no other
figure of the user's is touched. matplotlib is imported when something is drawn. What is drawn is computed elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from suffice._show.figures import draw_change, draw_measures, draw_quality, draw_sets
from suffice._show.importance_figure import draw_importance, draw_overview
from suffice._show.row_figures import draw_curve, draw_rule
from suffice.checks.quality import Quality
from suffice.errors import check_number, check_word
from suffice.explaining.explanation import Explanation
from suffice.explaining.explanations import Explanations
from suffice.explaining.importance import SetsKind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice.changes.values import Changes
    from suffice.explainer import SufficientExplainer
    from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor

__all__ = [
    "change",
    "coverage_precision",
    "curve",
    "importance",
    "overview",
    "quality",
    "rule",
    "sets",
]


def importance(
    explanations: Explanations | Explanation | Sequence[Explanation],
    *,
    sets: SetsKind = "minimal",
    n_variables: int = 15,
    ax: Axes | None = None,
) -> Axes:
    """Draw the importance of the variables for a row, or its mean over rows, as bars.

    Parameters
    ----------
    explanations : Explanations, Explanation or sequence of Explanation
        What is drawn. The importances of several rows are averaged over those with a sufficient set.
    sets : {"minimal", "all"}, default="minimal"
        Which sufficient sets count: those of the smallest size, or all that were searched.
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
    >>> import numpy as np
    >>> from suffice import SufficientExplainer
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> explanations = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0).explain(X[:9])
    >>> ax = importance(explanations)
    >>> ax.get_title(loc="left")
    'Mean of 9 rows'
    """
    _check_whole("n_variables", n_variables)
    return draw_importance(explanations, sets, n_variables, ax)


def overview(explanations: Explanations, *, n_variables: int = 12, ax: Axes | None = None) -> Axes:
    """Draw how often each variable is in the best set of a row, for which values, and for which outcome.

    Parameters
    ----------
    explanations : Explanations
        What is drawn: all rows of it; from more than 2000 rows, so many points are drawn at random.
    n_variables : int, default=12
        How many variables are drawn at most: those that are in the most best sets.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure. Each variable has a lane, from 0 at the top.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn. The bar of a variable, from 0 to 1, is the share of rows with it in the best set, by
        outcome. To the right, from 1.45 to 2.95, each of these rows is a point at the rank of its value among the
        training rows, or at its category. Colours are classes, or numbers up to and above the median.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import SufficientExplainer
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> explanations = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0).explain(X[:9])
    >>> [label.get_text() for label in overview(explanations).get_yticklabels()]
    ['x1']
    """
    _check_whole("n_variables", n_variables)
    if not isinstance(explanations, Explanations):
        raise TypeError(f"`overview` draws what `explain` gave for several rows, got {type(explanations).__name__}.")
    return draw_overview(explanations, n_variables, ax)


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
    _check_whole("n_sets", n_sets)
    if not isinstance(explanation, Explanation):
        raise TypeError(f"`sets` draws one row, such as explanations[0], got {type(explanation).__name__}.")
    return draw_sets(explanation, n_sets, ax)


def rule(
    explanations: Explanations | Explanation,
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
    explanations : Explanations or Explanation
        The explanations, made with rules, or one of them.
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
    explanations, row = _placed("rule", explanations, row)
    if row is None:
        row = next((i for i, rules_of_row in enumerate(explanations.answers.rules) if rules_of_row), 0)
    return draw_rule(explanations, row, variables, which, ax)


def curve(
    explanations: Explanations | Explanation,
    row: int | None = None,
    variable: str | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the probability that a row's outcome is kept while one variable moves.

    The blue line is P(outcome kept | X_S = x_S) for the best set S of the row (or the nearest, if none is sufficient),
    together with the variable if S does not hold it; only the variable moves, and all other variables of S keep the
    row's values. The thin grey line is the same with all variables known. Both are step functions, drawn exactly
    between the thresholds of the forest. For a number, the interval of the row stays the same along the line.

    Parameters
    ----------
    explanations : Explanations or Explanation
        The explanations, or one of them.
    row : int, default=None
        The position of the explained row; None takes the first.
    variable : str, default=None
        The variable that moves, or one column of a variable with several. None takes the first of the best set.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn. The row's value is marked, the level is a dashed line, and the bounds of the row's rule on
        the variable are shaded.
    """
    explanations, row = _placed("curve", explanations, row)
    return draw_curve(explanations, row or 0, variable, ax)


def coverage_precision(
    rule_list: GlobalRulesClassifier | GlobalRulesRegressor, *, X: Any = None, y: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw the rules of a list with how many rows they cover and how precise they are there.

    Each rule is a line with its text. The bar is the share of the rows that it covers, the disc its precision, the ring
    its precision on the training rows, and the mark the share of all rows that have its class.

    Parameters
    ----------
    rule_list : GlobalRulesClassifier or GlobalRulesRegressor
        The fitted list of rules; of longer lists, the first 20 are drawn.
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
        the training outcomes. The line for rows that no rule covers comes last.
    """
    return draw_measures(rule_list.evaluate(X, y), ax)


def change(
    changes: Changes, row: int = 0, number: int = 0, *, column: str | None = None, ax: Axes | None = None
) -> Any:
    """Draw a change: the box on the distributions of the training rows, with the row and the least change.

    Parameters
    ----------
    changes : Changes
        The changes of some rows.
    row : int, default=0
        Which of the rows.
    number : int, default=0
        Which of its changes. If it has none, the nearest miss is drawn.
    column : str, default=None
        The column to draw; None draws all columns of the change, each on axes of its own.
    ax : Axes, default=None
        Where to draw, if there is one column; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes or ndarray of Axes
        The axes; one for each column.
    """
    return draw_change(changes, row, number, column, ax)


def quality(explainer: SufficientExplainer | Quality, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw how well the forest predicts: a confusion matrix, or predicted against observed numbers.

    Parameters
    ----------
    explainer : SufficientExplainer or Quality
        The fitted explainer, or what its `quality` returned; then nothing else is needed.
    X : array-like or frame of shape (n_rows, n_columns), default=None
        Rows that the forest was not fitted on; None for the training rows, out of bag.
    y : array-like of shape (n_rows,), default=None
        Their outcomes.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn. The colour of a cell is its share of the observed class; beside the matrix stand the recall
        of each class and the share of its explained rows that have a sufficient set, below it the precision.
    """
    return draw_quality(explainer if isinstance(explainer, Quality) else explainer.quality(X, y), ax)


def draw(explanations: Explanations | Explanation, kind: str, **options: Any) -> Any:
    """Draw a plot by its name: what `Explanations.plot` and `Explanation.plot` call."""
    kinds: dict[str, Any] = {
        "importance": importance,
        "overview": overview,
        "sets": sets,
        "rule": rule,
        "curve": curve,
    }
    check_word("kind", kind, list(kinds))
    return kinds[kind](explanations, **options)


def _placed(plot: str, explanations: Explanations | Explanation, row: int | None) -> tuple[Explanations, int | None]:
    """Return all explanations and the position of the one to draw."""
    if isinstance(explanations, Explanations):
        return explanations, row
    if not isinstance(explanations, Explanation):
        raise TypeError(f"`{plot}` draws what `explain` gave, got {type(explanations).__name__}.")
    if row is not None:
        raise TypeError(f"`{plot}` takes `row` with several explanations only, and one was passed.")
    if explanations.origin is None:
        raise ValueError(
            f"`{plot}` draws training rows, which an explanation that was pickled or made by hand does not know: use "
            f"explanations.plot({plot!r}, row=...)."
        )
    return explanations.origin


def _check_whole(name: str, number: int) -> None:
    check_number(name, number, "a whole number >= 1", lambda v: v >= 1, Integral)
