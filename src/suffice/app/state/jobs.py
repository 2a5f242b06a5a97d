"""Work that takes longer than a click: it runs in a thread, reports its progress, and can be cancelled.

Long work about an explainer goes on to a process of its own, which may die without ending anything else.
"""

from __future__ import annotations

import copy
import secrets
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from suffice._io.processes import CannotSendError, run_in_process
from suffice.app.messages import ERRORS, reword

if TYPE_CHECKING:
    from suffice.explainer import SufficientExplainer

N_JOBS = 12  # finished jobs whose results are kept, and refused ones
N_RUNNING = 8  # jobs that run at the same time


class Cancelled(Exception):  # noqa: N818
    """The job was cancelled."""


class Job:
    """One piece of work."""

    def __init__(self, title: str, total: int = 0) -> None:
        self.title = title
        self.total = total
        self.done = 0
        self.state: Literal["running", "done", "cancelled", "failed"] = "running"
        self.message = ""
        self.is_refused = False
        self.result: Any = None
        self._begin = self._begin_of_stage = time.monotonic()
        self._cancel = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop."""
        self._cancel.set()

    def step(self, done: int, total: int | None = None, title: str = "") -> None:
        """Record the progress, also in a new stage of the work; the work itself calls this."""
        if title and title != self.title:
            self.title, self._begin_of_stage = title, time.monotonic()
        self.done, self.total = done, self.total if total is None else total
        if self._cancel.is_set():
            raise Cancelled

    @property
    def seconds(self) -> float:
        """Seconds since the job began."""
        return time.monotonic() - self._begin

    @property
    def seconds_left(self) -> float | None:
        """About how long the stage will take, if it is known how much there is to do."""
        if not self.total or self.done < 0.05 * self.total:
            return None
        return (time.monotonic() - self._begin_of_stage) * (self.total / self.done - 1)

    def run(self, work: Callable[[Job], Any]) -> None:
        """Do the work and keep its result, or the message of its error."""
        try:
            self.result = work(self)
            self.state = "done"
        except Cancelled:
            self.state = "cancelled"
        except ERRORS as error:
            self.message, self.state = reword(error), "failed"
        except MemoryError:
            self.message, self.state = "There is not enough memory for this: take fewer rows or columns.", "failed"
        # A page must not wait forever for a thread that died. A panic of polars is not an Exception.
        except BaseException as error:
            traceback.print_exc()
            self.message, self.state = f"Something is wrong with the program: {type(error).__name__}.", "failed"


class Jobs:
    """The jobs of a running app, by name."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, job: Job, work: Callable[[Job], Any]) -> str:
        """Begin a job in a thread of its own; it fails at once if too many are running."""
        name = secrets.token_hex(8)
        with self._lock:
            is_full = sum(one.state == "running" for one in self._jobs.values()) >= N_RUNNING
            if is_full:
                job.is_refused = True
                job.message, job.state = f"{N_RUNNING} jobs are running already: wait until one of them ends.", "failed"
            self._jobs[name] = job
            # Refused jobs are counted by themselves: they must not push out a result that nobody has looked at yet.
            of_kind = [one for one in self._jobs if self._jobs[one].is_refused == is_full]
            for old in of_kind[:-N_JOBS]:
                if self._jobs[old].state != "running":
                    del self._jobs[old]
        if not is_full:
            threading.Thread(target=job.run, args=(work,), daemon=True).start()
        return name

    def get(self, name: str | None) -> Job | None:
        """Look up a job."""
        return self._jobs.get(name or "")


def run_on_explainer(name: str, explainer: SufficientExplainer, *args: Any, step: Callable[..., None]) -> Any:
    """Call a function of `_io.explainer_file` in a process of its own.

    An explainer that cannot be sent to another process, because it was fitted with a class that a notebook has defined,
    is asked in this one.
    """
    without_model = copy.copy(explainer)
    without_model.fitted_ = explainer.fitted_.without_model
    try:
        work = f"suffice._io.explainer_file:{name}"
        return run_in_process(work, without_model, *args, watch=step, counts_steps=True)
    except CannotSendError:
        from suffice._io import explainer_file

        return getattr(explainer_file, name)(without_model, *args, step=step)
