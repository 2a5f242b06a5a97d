"""A progress bar for long work: on a terminal or in a notebook, after a second, and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count


def _in_notebook() -> bool:
    # A notebook kernel has loaded this module; asking for it must not load it.
    return "ipykernel" in sys.modules


def wants_bar(show: bool | None) -> bool:
    """Return whether a progress bar is to be shown.

    Parameters
    ----------
    show : bool or None
        The user's choice; None shows one on a terminal or in a notebook.

    Returns
    -------
    bool
        Whether it is.
    """
    return show if show is not None else _in_notebook() or sys.stderr.isatty()


@contextmanager
def progress_bar(
    total: int, show: bool | None, what: str = "explaining", *, n_before: int = 0, unit: str = "row"
) -> Iterator[Callable[[int], object] | None]:
    """Show how many rows or other units are done.

    Parameters
    ----------
    total : int
        The number of rows.
    show : bool or None
        Whether to show a bar; None shows one on a terminal or in a notebook if the work takes over a second.
    what : str, default="explaining"
        What is done with them.
    n_before : int, default=0
        Rows that were done before, which do not count for the speed.
    unit : str, default="row"
        What is counted.

    Yields
    ------
    callable or None
        To be called with the number of rows done so far, with those done before; None if there is no bar.
    """
    if not wants_bar(show):
        yield None
        return
    from tqdm.auto import tqdm

    options = {"unit": unit, "desc": what, "delay": 0 if show else 1, "dynamic_ncols": True}
    with tqdm(total=total, initial=n_before, **options) as bar:
        yield lambda done: bar.update(done - bar.n)


@contextmanager
def report_steps(
    total: int, progress: bool | Callable[[int], object] | None, what: str, unit: str
) -> Iterator[Callable[[], object]]:
    """Count the steps of a long work, and show them in a progress bar or pass them on.

    Parameters
    ----------
    total : int
        The number of steps.
    progress : bool, callable or None
        Whether to show a bar, as for `progress_bar`; or a function that takes the number of steps done.
    what : str
        What is done.
    unit : str
        What a step is.

    Yields
    ------
    callable
        To be called after each step.
    """
    steps = count(1)
    if callable(progress):
        report = progress
        yield lambda: report(next(steps))
        return
    with progress_bar(total, progress, what, unit=unit) as report_bar:
        yield lambda: None if report_bar is None else report_bar(next(steps))
