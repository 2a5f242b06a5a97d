"""Rules checked for every point: whether the model decides any row within their bounds otherwise."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice._table.frames import load_pandas
from suffice._text import counted
from suffice.checks.certificates import attach, lines_of
from suffice.explaining.proof import Proof
from suffice.explaining.rule import Promise, Rule
from suffice.proofs.asking import N_COMPARED, AskedModel, evenly, read_asked_of
from suffice.proofs.domain import ROUNDED, Box
from suffice.proofs.ensemble import Ensemble, Floats
from suffice.proofs.search import Decision, Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice._forest.fitted import Fitted

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
            "rule": [" AND ".join(map(str, promise.conditions)) for promise in promises],
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
    asked = read_asked_of(state, model, X, **options)
    lines = lines_of(what)
    first_with = {line.promise: line for line in reversed(lines)}
    promises = list(dict.fromkeys(line.promise for line in lines))
    proofs = {promise: prove_promise(promise, asked) for promise in promises}
    are_local = all(isinstance(line, Rule) for line in lines)
    attached = attach(what, lines, proofs, "proof") if are_local else what
    rules = tuple(first_with[promise] for promise in promises)
    return ProvenRules(rules, tuple(proofs.values()), asked.domain.ensemble.name, attached)


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


def prove_promise(promise: Promise, asked: AskedModel) -> Proof:
    """Check what one rule says."""
    domain, prover = asked.domain, asked.prover
    decision = decision_of(promise, domain.ensemble)
    box = domain.box(promise.conditions)
    empty = box.empty_axis
    if empty is not None:
        conditions = " AND ".join(map(str, promise.conditions))
        raise ValueError(
            f"No point of the domain is within the bounds of the rule ({conditions}): they leave nothing of "
            f"{domain.axes[empty].name!r}. State a `domain` that they meet."
        )
    inside = np.flatnonzero(domain.holds(box, asked.rows))
    kept = prover.keeps(decision, asked.rows[inside])
    found = _find_exception(asked, box, decision, inside[~kept])
    verdict: Verdict = "refuted" if isinstance(found, np.ndarray) else found
    values = found if verdict == "refuted" else None
    if values is not None and asked.place(values) is None:
        shorter = domain.shorten(box, values, ROUNDED)
        values = values if asked.keeps(decision, shorter) else shorter
    figures: dict[str, Any] = {}
    if domain.ensemble.classes is None:
        least, largest, is_exact = prover.extremes(box)
        figures = {"least": least, "largest": largest, "is_exact": is_exact}
    if values is not None:
        distance, gaps, unusual = asked.nearness(values)
        names, asked_about = [column.name for column in domain.ensemble.columns], {c.column for c in promise.conditions}
        row = dict(zip(names, asked.row_of(values), strict=True))
        # What the rule asks about stands first, and then what differs from the nearest row.
        order = sorted(range(len(names)), key=lambda c: (names[c] not in asked_about, gaps[c] == 0))
        figures |= {"counterexample": {names[c]: row[names[c]] for c in order}, "decided": asked.decide(values)}
        figures |= {"distance": distance, "n_changed": int(np.count_nonzero(gaps)), "unusual": unusual}
        figures |= {"row": asked.place(values)}
    return Proof(verdict, domain.ensemble.name, len(inside), int(kept.sum()), **figures)


def _find_exception(asked: AskedModel, box: Box, decision: Decision, others: NDArray[np.intp]) -> Any:
    """Return the values of the most plausible exception that is found, "proven" or "open"."""
    for i in others[:N_NEAR]:
        if not asked.keeps(decision, asked.rows[i]):
            return asked.rows[i]
    moved, distances = _move_into(asked, box)
    points = asked.domain.pieces(moved)
    order = np.argsort(distances, kind="stable")
    differs = ~asked.prover.keeps(decision, moved[order]) & asked.domain.holds(box, moved[order])
    for i in order[differs][:N_NEAR]:
        if not asked.keeps(decision, moved[i]):
            return moved[i]
    answer = asked.prover.check(box, decision, moved[order[0]], starts=points[order[:N_STARTS]])
    if answer.values is None:
        return answer.verdict
    if asked.keeps(decision, answer.values):
        return "open"
    near = [_approach(asked, box, decision, answer.values, moved[i]) for i in _nearest(asked, answer.values, moved)]
    compared = asked.rows[evenly(len(asked.rows), N_COMPARED)]
    return min(near, key=lambda values: float(asked.domain.distances(values, compared).min()))


def _nearest(asked: AskedModel, values: Floats, rows: Floats) -> NDArray[np.intp]:
    return np.argsort(asked.domain.distances(values, rows), kind="stable")[:N_NEAR]


def _move_into(asked: AskedModel, box: Box) -> tuple[Floats, Floats]:
    """Move rows to the nearest values of a box; return them with the distances that they were moved."""
    domain = asked.domain
    rows = asked.rows[evenly(len(asked.rows), N_MOVED)]
    moved = rows.copy()
    points = domain.pieces(rows)
    for i, axis in enumerate(domain.axes):
        columns, allowed = list(axis.columns), np.flatnonzero(box.allowed[i])
        known = allowed[~np.isnan(box.first[i][allowed, 0])]
        if len(columns) == 1 and axis.grids[0] is not None and len(known):
            # An end of the piece that is nearest: pieces stand in the order of their values.
            first, last = box.first[i][known, 0], box.last[i][known, 0]
            own = rows[:, columns[0]]
            place = np.minimum(np.searchsorted(last, own), len(known) - 1)
            below = np.maximum(place - 1, 0)
            above = np.abs(np.clip(own, first[place], last[place]) - own)
            nearest = np.where(above <= np.abs(np.clip(own, first[below], last[below]) - own), place, below)
            to = np.clip(own, first[nearest], last[nearest])
            is_missing_allowed = len(known) < len(allowed)
            to = np.where(np.isnan(own), np.nan if is_missing_allowed else first[0], to)
            moved[:, columns[0]] = to
        else:
            is_out = ~np.isin(points[:, i], allowed)
            moved[np.ix_(np.flatnonzero(is_out), np.array(columns))] = box.first[i][allowed[0]]
    return moved, np.array([domain.gaps(a, b[None]).sum() for a, b in zip(moved, rows, strict=True)])


def _approach(asked: AskedModel, box: Box, decision: Decision, values: Floats, row: Floats) -> Floats:
    """Give a counterexample the values of a row of the box, as long as the decision stays otherwise."""
    domain = asked.domain
    for columns in [list(axis.columns) for axis in domain.axes]:
        tried = values.copy()
        tried[columns] = row[columns]
        differs = not np.array_equal(tried, values, equal_nan=True)
        if differs and domain.holds(box, tried[None])[0] and not asked.keeps(decision, tried):
            values = tried
    return values
