"""Global rules of a workspace: collected from training rows, simplified on request, and measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice._io.explainer_file import training_rows
from suffice._table.cache import LastUsed
from suffice.app.state.beside import run_beside
from suffice.app.state.jobs import Job
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.app.words import ERRORS
from suffice.rule_lists.estimators import N_RULES

TOLERANCES = (None, 0.0, 0.005, 0.01, 0.02, 0.05, 0.1)  # None keeps all rules


class RuleLists:
    """The rules that a job collected, and shorter lists made of them."""

    def __init__(self, rules: Any) -> None:
        self.full = rules
        self._simplified = LastUsed(2 * len(TOLERANCES))

    def simplified(self, step: int, max_rules: int | None = N_RULES) -> Any:
        """Choose few rules that lose little."""
        loss = TOLERANCES[int(step)]
        if loss is None or not self.full.rules_:
            return self.full
        make = lambda: self.full.simplify(max_rules=max_rules, max_loss=loss)  # noqa: E731
        return self._simplified.get((loss, max_rules), make)


def find_rules(workspace: Workspace, view: View, n_rows: int, job: Job) -> Any:
    """Find the rules of training rows at several levels, as lists of rules in Python and `suffice rules` do.

    The work is done in a process of its own.
    """
    try:
        frame, outcomes = training_rows(workspace.explainer)
    except ValueError:  # fitted on dates
        if workspace.observed is None:
            raise ValueError(
                "The explainer was fitted on dates and holds only their parts: open it together with its table."
            ) from None
        frame, outcomes = workspace.frame, np.asarray(workspace.observed)
    arguments = (workspace.as_input(frame), np.asarray(outcomes), n_rows)
    rules = run_beside("collect_rules", workspace.explainer_for(view), *arguments, step=job.step)
    job.step(job.total)
    return rules


def rules_of_row(workspace: Workspace, view: View, rules: Any) -> dict[int, str]:
    """Look up the rules that cover the row of a view."""
    try:
        row = workspace.edited_row(view)
        covering = [i for i, line in enumerate(rules.rules_) if line.rule.covers(row)[0]]
    except ERRORS:
        return {}
    return {i: "decides" if i == covering[0] else "holds" for i in covering}
