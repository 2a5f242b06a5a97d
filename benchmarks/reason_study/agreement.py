"""How often rows keep their reasons after changes, as values: ours, and what SHAP puts first beside them.

The changes are made by ``reason_stability``. The page for a validator is drawn by ``_show.stability_page``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice._text import counted, format_percent
from suffice.reasons.values import REFUSALS

ChangeKind: TypeAlias = Literal["seeds", "bootstraps", "refits", "noise"]
"""What is changed."""
CHANGES: dict[ChangeKind, str] = {
    "seeds": "another seed of the forest",
    "bootstraps": "bootstrap samples of the training table",
    "refits": "the model fitted again on bootstrap samples",
    "noise": "small noise on the row",
}
Variables: TypeAlias = tuple[str, ...]
"""The variables of a row's reasons, the first reason first; empty if it has none."""


@dataclass(frozen=True)
class Agreement:
    """How often rows have the same reasons after a change, among the pairs of a row and a change."""

    n_pairs: int
    n_same_top: int
    n_same_set: int
    n_none: int

    @property
    def same_top(self) -> float:
        """The share of pairs with the same first reason; NaN without any pair."""
        return self.n_same_top / self.n_pairs if self.n_pairs else float("nan")

    @property
    def same_set(self) -> float:
        """The share of pairs with the same reasons; NaN without any pair."""
        return self.n_same_set / self.n_pairs if self.n_pairs else float("nan")

    @classmethod
    def of(
        cls, before: Sequence[Variables], after: Sequence[Sequence[Variables]], is_kept: NDArray[np.bool_]
    ) -> Agreement:
        """Compare reasons."""
        pairs = [
            (own, other)
            for of_change, kept in zip(after, is_kept.tolist(), strict=True)
            for own, other, is_same in zip(before, of_change, kept, strict=True)
            if is_same and own
        ]
        return cls(
            len(pairs),
            sum(own[:1] == other[:1] for own, other in pairs),
            sum(set(own) == set(other) for own, other in pairs),
            sum(not other for _, other in pairs),
        )


@dataclass(frozen=True, eq=False)
class ChangedReasons:
    """The reasons of rows after changes of one kind."""

    kind: ChangeKind
    is_kept: NDArray[np.bool_]
    reasons: tuple[tuple[Variables, ...], ...]
    shap: tuple[tuple[Variables, ...], ...] | None
    shap_note: str = ""


@dataclass(frozen=True, eq=False)
class ReasonStability:
    """How often rows keep their reasons. Made by `reason_stability`."""

    labels: tuple[str, ...]
    reasons: tuple[Variables, ...]
    shap: tuple[Variables, ...] | None
    changes: tuple[ChangedReasons, ...]
    n_rows: int
    refusals: dict[str, int]
    n_reasons: int
    scale: float
    about: dict[str, Any]
    shap_of: str

    def ours(self, change: ChangedReasons) -> Agreement:
        """Compare our reasons before and after changes of one kind."""
        return Agreement.of(self.reasons, change.reasons, change.is_kept)

    def of_shap(self, change: ChangedReasons) -> Agreement | None:
        """Compare the variables that SHAP puts first at the same rows."""
        if self.shap is None or change.shap is None:
            return None
        return Agreement.of(self.shap, change.shap, change.is_kept)

    def same_top_by_row(self) -> NDArray[np.float64]:
        """Compute for each row the share of the changes that keep its decision which also keep its first reason."""
        n_kept, n_same = np.zeros(len(self.reasons)), np.zeros(len(self.reasons))
        for change in self.changes:
            for after, kept in zip(change.reasons, change.is_kept, strict=True):
                is_same = [own[:1] == other[:1] for own, other in zip(self.reasons, after, strict=True)]
                n_kept += kept
                n_same += kept & np.array(is_same, dtype=bool)
        with np.errstate(invalid="ignore"):
            shares: NDArray[np.float64] = n_same / n_kept
        return shares

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain Python values, ready for JSON."""
        lines = []
        for change in self.changes:
            shap = self.of_shap(change)
            lines.append(
                {
                    "change": change.kind,
                    "n_changes": len(change.reasons),
                    "ours": vars(self.ours(change)).copy(),
                    "shap": None if shap is None else vars(shap).copy(),
                    "note": change.shap_note,
                }
            )
        return {
            "n_rows": self.n_rows,
            "n_with_reasons": len(self.reasons),
            "refusals": dict(self.refusals),
            "n_reasons": self.n_reasons,
            "scale": self.scale,
            "shap_of": self.shap_of,
            "changes": lines,
        }

    def report(self, path: str | PathLike[str], *, title: str | None = None) -> Path:
        """Write a page for a validator."""
        from benchmarks.reason_study.page import make_stability_page

        from suffice._io.writing import write_text

        return write_text(path, make_stability_page(self, title=title))

    def __str__(self) -> str:
        """Return a line for each kind of change."""
        lines = [f"{len(self.reasons)} of {counted(self.n_rows, 'row')} have reasons."]
        lines += [
            f"{REFUSALS[kind][:1].upper()}{REFUSALS[kind][1:]}: {counted(n, 'row')}."  # type: ignore[index]
            for kind, n in self.refusals.items()
        ]
        for change in self.changes:
            ours, shap = self.ours(change), self.of_shap(change)
            name = f"{CHANGES[change.kind][:1].upper()}{CHANGES[change.kind][1:]}"
            if not ours.n_pairs:
                lines.append(f"{name}: no row keeps its decision.")
                continue
            beside = "" if shap is None else f" (SHAP {_shares(shap)})"
            note = f" {change.shap_note}" if change.shap_note else ""
            same = f"{_shares(ours)} of {ours.n_pairs} have the same first reason | reasons"
            lines.append(f"{name}: {same}{beside}.{note}")
        return "\n".join([*lines, self.shap_of])

    __repr__ = __str__


def _shares(agreement: Agreement) -> str:
    return f"{format_percent(agreement.same_top)} | {format_percent(agreement.same_set)} %"
