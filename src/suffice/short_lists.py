"""Short lists of rules: which of many rules are taken, in which order, and how the list is simplified.

How rules are collected, and what they decide, is left to ``rule_lists``.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from suffice._engine.chosen_rules import Choice, LabelGains, NumberGains, choose_greedily
from suffice._engine.rule_list import Bools, Floats, shorten
from suffice._table.checks import check_number
from suffice.certified_lists import CertifiableList
from suffice.rule_measures import GlobalRule
from suffice.rules import Rule
from suffice.simpler_rules import merge_rules

N_RULES = 20  # as many rules as a person reads


class ShortList(CertifiableList):
    """What a list of rules needs in order to be made shorter, and how that is done."""

    loss_: float

    def simplify(
        self, tolerance: float | None = None, *, max_rules: int | None = N_RULES, max_loss: float = 0.01
    ) -> Any:
        """Make a list with few rules that is nearly as good.

        Rules are chosen one after another: each time the one that gains most on the training rows that no chosen rule
        covers. For classes, a rule gains the number of rows that it adds, times the estimated share of them that have
        its label beyond the share of all rows that have it. For numbers, it gains the squared error that it removes.
        Both are discounted for the number of rows behind them, as estimates for new rows. The value of a list is the
        sum of its gains, as a share of the training rows or of the variance of their outcomes. Conditions that change
        no row covered are left out, and two rules for one label become one where a single rule says the same.

        Parameters
        ----------
        tolerance : float or None, default=None
            If given, in [0, 1), the list is shortened with a guarantee on the training rows instead: rules are removed,
            those that decide no row first, as long as both coverage and precision stay within the tolerance of this
            list's; the order and the rules themselves stay as they are. `max_rules` and `max_loss` are not used.
        max_rules : int or None, default=20
            The number of rules at most; None for any number.
        max_loss : float, default=0.01
            How much of the value of all rules may be lost, in [0, 1). The shortest list within this loss is returned;
            if it is longer than `max_rules`, its first rules, and the loss is greater. The list states it as `loss_`.

        Returns
        -------
        estimator
            A new fitted list. This one stays as it is.
        """
        check_is_fitted(self, "rules_")
        if tolerance is not None:
            return self._within_tolerance(tolerance)
        check_max_rules(max_rules)
        check_number("max_loss", max_loss, "in [0, 1)", lambda v: 0 <= v < 1)
        choice = choose_greedily(self._training_covers(), self._gains(self.rules_))
        short = choice.within(max_loss).first(max_rules)
        return self._with_choice(short, float(choice.gains.sum() - short.gains.sum()))

    def _within_tolerance(self, tolerance: float) -> Any:
        """Remove rules while coverage and precision on the training rows stay within a tolerance."""
        check_number("tolerance", tolerance, "in [0, 1)", lambda v: 0 <= v < 1)
        outputs, outcomes = self.outputs_, self.training_outcomes_
        kept = shorten(
            np.ascontiguousarray(self._training_covers().T),
            lambda rules, rows: self._losses(outputs[rules], outcomes[rows]),
            tolerance,
        )
        return self._with_lines(kept.tolist(), None)

    def _with_choice(self, choice: Choice, loss: float) -> Any:
        """Return the list with the rules chosen, in the order of the choice, each as simple as possible."""
        lines, covers = self._simpler_lines(choice.in_order.tolist())
        short = copy.copy(self)
        short.rules_ = tuple(lines)
        short.simpler_rules_ = tuple(line.rule for line in lines)
        short.packed_covers_ = np.packbits(covers, axis=1)
        short.collected_ = None
        short.loss_ = loss
        short.certificate_ = None
        return short

    def _simpler_lines(self, chosen: Sequence[int]) -> tuple[list[GlobalRule], Bools]:
        """Write the rules chosen without idle conditions, and those that say the same of neighbouring rows as one."""
        all_covers = self._training_covers()
        covers = [all_covers[i] for i in chosen]
        rules, parts = merge_rules([self.simpler_rules_[i] for i in chosen])
        unions = [np.logical_or.reduce([covers[i] for i in group]) for group in parts]
        outcomes = self.training_outcomes_
        lines = [self._measure(rule, outcomes[rows]) for rule, rows in zip(rules, unions, strict=True)]
        return lines, np.array(unions, dtype=np.bool_).reshape(len(lines), len(outcomes))

    # --- what the list itself knows ----------------------------------------------------------------------------------

    @property
    def outputs_(self) -> NDArray[Any]:
        """What each rule predicts."""
        raise NotImplementedError

    def _gains(self, lines: Sequence[GlobalRule]) -> LabelGains | NumberGains:
        """Compute what rules gain when they are added to a list."""
        raise NotImplementedError

    def _measure(self, rule: Rule, outcomes: NDArray[Any]) -> GlobalRule:
        """Measure a rule on the outcomes of the rows that it covers."""
        raise NotImplementedError

    def _losses(self, outputs: NDArray[Any], outcomes: NDArray[Any]) -> Floats:
        """Compute what outputs cost: precision is 1 minus the mean."""
        raise NotImplementedError


def check_max_rules(max_rules: int | None) -> None:
    """Check a number of rules.

    Parameters
    ----------
    max_rules : int or None
        The number; None for any.
    """
    if max_rules is not None:
        check_number("max_rules", max_rules, "None or a whole number >= 1", lambda v: v >= 1, Integral)
