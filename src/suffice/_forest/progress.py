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
    """Return whether a progress bar is to be shown."""
    return show if show is not None else _in_notebook() or sys.stderr.isatty()


@contextmanager
def progress_bar(
    total: int, show: bool | None, what: str = "explaining", *, n_before: int = 0, unit: str = "row"
) -> Iterator[Callable[[int], object] | None]:
    """Show how many rows or other units are done."""
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
    """Count the steps of a long work, and show them in a progress bar or pass them on."""
    steps = count(1)
    if callable(progress):
        report = progress
        yield lambda: report(next(steps))
        return
    with progress_bar(total, progress, what, unit=unit) as report_bar:
        yield lambda: None if report_bar is None else report_bar(next(steps))
