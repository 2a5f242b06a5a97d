"""Rules checked for every point: whether the model decides any row within their bounds otherwise."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._forest.fitted import Fitted
from suffice._forest.trees import spaced_rows
from suffice._table.frames import load_pandas
from suffice._text import counted, printed
from suffice.checks.certificates import check_distinct
from suffice.explaining.proof import Proof, Verdict
from suffice.explaining.rule import Promise
from suffice.proofs.domain import ROUNDED, Box
from suffice.proofs.ensemble import Ensemble, Floats
from suffice.proofs.model_trees import N_COMPARED, ModelTrees, read_trees_of
from suffice.proofs.search import Decision

# Rows that are moved into a box, those of them that the search begins with, and rows whose values a counterexample may
# take.
N_MOVED, N_STARTS, N_NEAR = 1000, 5, 5


@dataclass(frozen=True, eq=False)
class ProvenRules:
    """Distinct rules with what was proven about them.

    Parameters
    ----------
    rules : tuple of Rule or GlobalRule
        The rules in their order. Those with the same conditions and the same class or interval are one rule.
    proofs : tuple of Proof
        What is known about each.
    model : str
        The model.
    attached : object
        What was passed to `prove`, with the proofs attached to its rules.
    """

    rules: tuple[Any, ...]
    proofs: tuple[Proof, ...]
    model: str
    attached: Any

    @property
    def heading(self) -> str:
        """How many rules are proven, refuted and open, in one sentence."""
        n = {v: sum(proof.verdict == v for proof in self.proofs) for v in ("proven", "refuted", "open")}
        return (
            f"{n['proven']} of {counted(len(self.rules), 'rule')} proven for {self.model}; {n['refuted']} refuted, "
            f"{n['open']} open."
        )

    @printed
    def __str__(self) -> str:
        """Return the counts, and a line for each rule."""
        lines = [f"{p.verdict}: {rule}\n    {p.text}" for rule, p in zip(self.rules, self.proofs, strict=True)]
        return "\n".join([self.heading, *lines])

    __repr__ = __str__

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the rules column by column.

        Returns
        -------
        dict of str to list
            The conditions of each rule, its outcome, and the fields of its proof.
        """
        promises = [rule.promise for rule in self.rules]
        names = ["verdict", "n_rows", "n_kept", "counterexample", "decided", "distance", "row", "unusual"]
        names += ["least", "largest"]
        return {
            "rule": [promise.premise for promise in promises],
            "outcome": [promise.outcome if promise.interval is None else promise.interval for promise in promises],
            **{name: [getattr(proof, name) for proof in self.proofs] for name in names},
        }

    def to_frame(self) -> Any:
        """Return the rules as a pandas frame.

        Returns
        -------
        pandas.DataFrame
            One line for each distinct rule.
        """
        return load_pandas().DataFrame(self.to_columns())

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The model, and the rules with their proofs.
        """
        pairs = zip(self.rules, self.proofs, strict=True)
        return {"model": self.model, "rules": [{**rule.to_dict(), "proof": proof.to_dict()} for rule, proof in pairs]}

    def to_json(self, **options: Any) -> str:
        """Return the rules as JSON.

        Parameters
        ----------
        **options : dict
            Passed to `json.dumps`, such as ``indent=1``.

        Returns
        -------
        str
            The JSON text of `to_dict`.
        """
        return json.dumps(self.to_dict(), **options)


def prove_rules(state: Fitted, what: Any, model: Any, X: Any, **options: Any) -> ProvenRules:
    """Check rules for every point of the domain, and attach the proofs."""
    model_trees = read_trees_of(state, model, X, **options)
    rules, proofs, attached = check_distinct(
        what, "proof", lambda promises: {promise: prove_promise(promise, model_trees) for promise in promises}
    )
    return ProvenRules(rules, proofs, model_trees.domain.ensemble.name, attached)


def decision_of(promise: Promise, ensemble: Ensemble) -> Decision:
    """Return what a rule says as a decision of the model."""
    if (promise.interval is None) == (ensemble.classes is None):
        kinds = ("numbers", "classes") if promise.interval is None else ("classes", "numbers")
        raise ValueError(f"{ensemble.name} decides {kinds[0]}, but the rule is about {kinds[1]}.")
    if promise.interval is not None or ensemble.classes is None:
        return promise.interval
    classes = ensemble.classes.tolist()
    if promise.outcome not in classes:
        raise ValueError(f"The rule says {promise.outcome!r}, but {ensemble.name} decides {classes}.")
    return classes.index(promise.outcome)


def prove_promise(promise: Promise, model_trees: ModelTrees) -> Proof:
    """Check what one rule says."""
    domain, prover = model_trees.domain, model_trees.prover
    decision = decision_of(promise, domain.ensemble)
    box = domain.box(promise.conditions)
    if box.empty_axis is not None:
        raise ValueError(
            f"No point of the domain is within the bounds of the rule ({promise.premise}): they leave nothing of "
            f"{domain.axes[box.empty_axis].name!r}. State a `domain` that they meet."
        )
    unmet = domain.unmet_constraint(box)
    if unmet is not None:
        raise ValueError(f"No point within the bounds of the rule ({promise.premise}) meets the constraint {unmet}.")
    inside = np.flatnonzero(domain.holds(box, model_trees.rows))
    kept = prover.keeps(decision, model_trees.rows[inside])
    found = _find_exception(model_trees, box, decision, inside[~kept])
    figures: dict[str, Any] = {}
    if domain.ensemble.classes is None:
        figures = dict(zip(("least", "largest", "is_exact"), prover.extremes(box), strict=True))
    if isinstance(found, np.ndarray):
        figures |= _describe(model_trees, promise, box, decision, found)
    verdict: Verdict = "refuted" if isinstance(found, np.ndarray) else found
    return Proof(verdict, domain.ensemble.name, len(inside), int(kept.sum()), **figures)


def _describe(
    model_trees: ModelTrees, promise: Promise, box: Box, decision: Decision, values: Floats
) -> dict[str, Any]:
    """Return what a proof says about an exception."""
    row = model_trees.place(values)
    if row is None:
        shorter = model_trees.domain.shorten(box, values, ROUNDED)
        values = values if model_trees.keeps(decision, shorter) else shorter
    distance, gaps, unusual = model_trees.nearness(values)
    in_rule = {condition.column for condition in promise.conditions}
    names, own = model_trees.domain.ensemble.names, model_trees.row_of(values)
    # What the rule asks about stands first, and then what differs from the nearest row.
    order = sorted(range(len(names)), key=lambda c: (names[c] not in in_rule, gaps[c] == 0))
    return {
        "counterexample": {names[c]: own[c] for c in order},
        "decided": model_trees.decide(values),
        "distance": distance,
        "n_changed": int(np.count_nonzero(gaps)),
        "unusual": unusual,
        "row": model_trees.place(values),
    }


def _find_exception(model_trees: ModelTrees, box: Box, decision: Decision, others: NDArray[np.intp]) -> Any:
    """Return the values of the most plausible exception that is found, "proven" or "open"."""
    domain, prover = model_trees.domain, model_trees.prover
    for row in model_trees.rows[others[:N_NEAR]]:
        if not model_trees.keeps(decision, row):
            return row
    moved = _move_into(model_trees, box)
    differs = ~prover.keeps(decision, moved) & domain.holds(box, moved)
    for row in moved[differs][:N_NEAR]:
        if not model_trees.keeps(decision, row):
            return row
    answer = prover.check(box, decision, moved[0], starts=domain.pieces(moved[:N_STARTS]))
    if answer.values is None:
        return answer.verdict
    if model_trees.keeps(decision, answer.values):
        return "open"
    order = np.argsort(domain.distances(answer.values, moved), kind="stable")[:N_NEAR]
    near = [_approach(model_trees, box, decision, answer.values, moved[i]) for i in order]
    compared = model_trees.rows[spaced_rows(len(model_trees.rows), N_COMPARED)]
    return min(near, key=lambda values: float(domain.distances(values, compared).min()))


def _move_into(model_trees: ModelTrees, box: Box) -> Floats:
    """Move rows to the nearest values of a box; return them, those first that were moved least."""
    domain = model_trees.domain
    rows = model_trees.rows[spaced_rows(len(model_trees.rows), N_MOVED)]
    moved, points = rows.copy(), domain.pieces(rows)
    for i, (axis, allowed) in enumerate(zip(domain.axes, box.allowed, strict=True)):
        is_out = ~np.isin(points[:, i], np.flatnonzero(allowed))
        for c in axis.columns:
            first, last, own = box.first[c][allowed], box.last[c][allowed], rows[:, c]
            if len(axis.columns) == 1 and domain.ensemble.columns[c].labels is None and not np.isnan(first[0]):
                # Between the ends of the box; the rows' own values are those that the column can hold.
                if_missing = np.nan if np.isnan(first[-1]) else first[0]
                moved[:, c] = np.where(np.isnan(own), if_missing, np.clip(own, first[0], np.nanmax(last)))
            else:
                moved[is_out, c] = first[0]
    return moved[np.argsort(domain.distances(moved, rows), kind="stable")]


def _approach(model_trees: ModelTrees, box: Box, decision: Decision, values: Floats, row: Floats) -> Floats:
    """Give a counterexample the values of a row of the box, as long as the decision stays otherwise."""
    domain = model_trees.domain
    for columns in [list(axis.columns) for axis in domain.axes]:
        tried = values.copy()
        tried[columns] = row[columns]
        differs = not np.array_equal(tried, values, equal_nan=True)
        if differs and domain.holds(box, tried[None])[0] and not model_trees.keeps(decision, tried):
            values = tried
    return values
