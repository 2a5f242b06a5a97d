"""How far long work is: a progress bar on a terminal or in a notebook, after a second, and stages for who watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from itertools import count

Report = Callable[[int, int, str], object]
_report: ContextVar[Report | None] = ContextVar("report", default=None)


@contextmanager
def watched(report: Report | None) -> Iterator[None]:
    """Pass on the stages of the work inside: what is done, of how much (0 if that is not known), and its name."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


def is_watched() -> bool:
    """Return whether somebody watches the stages."""
    return _report.get() is not None


def enter_stage(stage: str, done: int = 0, total: int = 0) -> None:
    """Say what is done now, to whoever watches."""
    report = _report.get()
    if report is not None:
        report(done, total, stage)


def progress_bar(
    total: int, show: bool | None, what: str = "explaining", *, n_before: int = 0, unit: str = "row"
) -> AbstractContextManager[Callable[[int], object] | None]:
    """Show how many rows or other units are done; if no bar is wanted, there is nothing to report to."""
    # A notebook kernel has loaded ipykernel; asking for it must not load it.
    wants_bar = show if show is not None else "ipykernel" in sys.modules or sys.stderr.isatty()
    return _bar(total, n_before, unit, what, 0 if show else 1) if wants_bar else nullcontext()


@contextmanager
def _bar(total: int, n_before: int, unit: str, what: str, delay: int) -> Iterator[Callable[[int], object]]:
    from tqdm.auto import tqdm

    options = {"unit": unit, "desc": what, "delay": delay, "dynamic_ncols": True}
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


def after(n_before: int, progress: Callable[[int], object] | None) -> Callable[[int], object] | None:
    """Report the steps of a part of the work that follows others."""
    return None if progress is None else lambda n_done: progress(n_before + n_done)
