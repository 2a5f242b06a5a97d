"""Work that takes longer than a click: it runs in a thread, tells how far it is, and can be cancelled."""

from __future__ import annotations

import secrets
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from suffice._engine.search import FoundSets
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.app.words import in_words
from suffice.explanations import Explanations

N_JOBS = 12  # finished jobs whose results are kept
CHUNK_SECONDS = 0.25  # how long a click may wait for a job


class Cancelled(Exception):  # noqa: N818
    """The job was cancelled."""


class Job:
    """One piece of work.

    Parameters
    ----------
    what : str
        What is done, in words.
    total : int
        How many steps there are; 0 if nobody knows.
    """

    def __init__(self, what: str, total: int = 0) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self.state: Literal["running", "done", "cancelled", "failed"] = "running"
        self.message = ""
        self.result: Any = None
        self._begin = time.monotonic()
        self._cancel = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop."""
        self._cancel.set()

    def step(self, done: int) -> None:
        """Tell how far the work is; called by the work itself.

        Parameters
        ----------
        done : int
            How many steps are done.
        """
        self.done = done
        if self._cancel.is_set():
            raise Cancelled

    @property
    def seconds(self) -> float:
        """How long ago it began."""
        return time.monotonic() - self._begin

    def run(self, work: Callable[[Job], Any]) -> None:
        """Do the work and keep its result, or what went wrong.

        Parameters
        ----------
        work : callable
            Takes the job and gives the result.
        """
        try:
            self.result = work(self)
            self.state = "done"
        except Cancelled:
            self.state = "cancelled"
        except (ValueError, TypeError, ImportError, OSError) as error:
            self.message, self.state = in_words(error), "failed"
        except Exception as error:  # a page must not wait forever for a thread that died
            traceback.print_exc()
            self.message, self.state = f"Something is wrong with the program: {type(error).__name__}.", "failed"


class Jobs:
    """The jobs of a running app, by name."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    def start(self, job: Job, work: Callable[[Job], Any]) -> str:
        """Begin a job in a thread of its own.

        Parameters
        ----------
        job : Job
            The job.
        work : callable
            Takes the job and gives the result.

        Returns
        -------
        str
            The name of the job.
        """
        name = secrets.token_hex(8)
        self._jobs[name] = job
        for old in list(self._jobs)[:-N_JOBS]:
            if self._jobs[old].state != "running":
                del self._jobs[old]
        threading.Thread(target=job.run, args=(work,), daemon=True).start()
        return name

    def get(self, name: str | None) -> Job | None:
        """Find a job.

        Parameters
        ----------
        name : str or None
            Its name.

        Returns
        -------
        Job or None
            None if it is not there, or no longer.
        """
        return self._jobs.get(name or "")


def explain_rows(
    workspace: Workspace,
    view: View,
    X: Any,
    y: Sequence[Any] | None,
    job: Job,
    sets: Literal["all", "minimal"] = "all",
) -> Explanations:
    """Explain rows a few at a time, so that clicks come in between.

    Parameters
    ----------
    workspace : Workspace
        The explainer and its table.
    view : View
        The settings.
    X : polars.DataFrame
        The rows.
    y : sequence of object or None
        Their outcomes; None for predictions.
    job : Job
        It is told how far the work is, and stops it.
    sets : {"all", "minimal"}, default="all"
        Which sets to find.

    Returns
    -------
    Explanations
        The explanations, with the rule of the surest minimal set of each row.
    """
    explainer = workspace.explainer_for(view)
    parts: list[Explanations] = []
    begin, size = 0, 4
    while begin < len(X):
        job.step(begin)
        end = min(begin + size, len(X))
        started = time.monotonic()
        with workspace.lock:
            rows = workspace.as_input(X[begin:end])
            parts.append(explainer.explain(rows, None if y is None else y[begin:end], sets=sets, progress=False))
        took = max(time.monotonic() - started, 1e-3)
        size = int(np.clip(size * CHUNK_SECONDS / took, 1, 4 * size))
        begin = end
    job.step(len(X))
    return join_explanations(parts)


def join_explanations(parts: Sequence[Explanations]) -> Explanations:
    """Make one of explanations by the same explainer.

    Parameters
    ----------
    parts : sequence of Explanations
        The explanations, in order.

    Returns
    -------
    Explanations
        All of them.
    """
    first, found = parts[0], [part._found for part in parts]
    ends = np.concatenate([[0], *(np.diff(one.offset) for one in found)])
    joined = FoundSets(
        first._found.candidates,
        np.cumsum(ends).astype(np.int64),
        *(
            np.concatenate([getattr(one, name) for one in found])
            for name in ("masks", "sdps", "best_masks", "best_sdps", "is_complete")
        ),
    )
    return Explanations(
        np.concatenate([part._X for part in parts]),
        np.concatenate([part._outcomes for part in parts]),
        None if first._intervals is None else np.concatenate([p._intervals for p in parts if p._intervals is not None]),
        joined,
        [rules for part in parts for rules in part._rules],
        np.concatenate([part._predictions for part in parts]),
        first._variables,
        first._encoding,
        first.pi,
        first.sets,
        first._library,
        first._training,
        first.about,
    )
