"""The reasons of decisions as values: of one row, and of many rows as a sequence, frames, dictionaries and text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from suffice._forest.fitted import Fitted
from suffice._table.frames import make_frame
from suffice._text import counted, format_outcome, format_probability, printed, to_plain
from suffice.errors import check_word
from suffice.explaining.explanation import SufficientSet
from suffice.explaining.row_answers import RowAnswers
from suffice.explaining.rule import Rule
from suffice.reasons.code_book import CodeBook

RefusalKind: TypeAlias = Literal[
    "forest_disagrees", "no_set", "no_variable_needed", "protected_variable", "unused_variable", "no_code"
]
"""Why a row gets no reasons."""
REFUSALS: dict[RefusalKind, str] = {
    "forest_disagrees": "the forest gives another outcome",
    "no_set": "no sufficient set",
    "no_variable_needed": "no variable is needed to keep the outcome",
    "protected_variable": "the outcome rests on a protected variable",
    "unused_variable": "the set contains a variable that the model does not use",
    "no_code": "the code book has no line for a value",
}
"""The kinds of refusals, in the order in which they are checked, and what each means."""
Status: TypeAlias = Literal["reasons", "refused", "not_adverse"]
"""What a row gets: reasons, none because they would not be true, or none because its outcome needs none."""


@dataclass(frozen=True)
class Reason:
    """One reason of a decision.

    Parameters
    ----------
    rank : int
        Its place among the reasons of the row, from 1.
    code : str
        Its code in the code book.
    text : str
        Its wording, with the row's value and bound filled in.
    variables : tuple of str
        The variables of the row's set that share the code, the one with the largest loss first.
    values : tuple of (str, object)
        The columns of these variables with the row's values; None for a missing one.
    loss : float
        What is lost without it: the fall of the SDP when the first variable is taken out of the set.
    bounds : tuple of str
        What the rule of the row asks of each variable.
    """

    rank: int
    code: str
    text: str
    variables: tuple[str, ...]
    values: tuple[tuple[str, Any], ...]
    loss: float
    bounds: tuple[str, ...] = ()

    @printed
    def __str__(self) -> str:
        """Return the rank, the code and the wording."""
        return f"{self.rank}. {self.text}" if self.code in self.text else f"{self.rank}. {self.code}: {self.text}"

    def to_dict(self) -> dict[str, Any]:
        """Return the reason as plain Python values, ready for JSON.

        Returns
        -------
        dict
            All that is known about it.
        """
        lists = {"variables": list(self.variables), "values": dict(self.values), "bounds": list(self.bounds)}
        return {**vars(self), **lists}


@dataclass(frozen=True)
class Refusal:
    """Why a row gets no reasons and needs human review.

    Parameters
    ----------
    kind : str
        One of `REFUSALS`.
    sentence : str
        What was found at the row.
    variables : tuple of str, default=()
        The variables that it is about.
    """

    kind: RefusalKind
    sentence: str
    variables: tuple[str, ...] = ()

    @printed
    def __str__(self) -> str:
        """Return what was found."""
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return the refusal as plain Python values, ready for JSON.

        Returns
        -------
        dict
            Its kind, what was found, and the variables.
        """
        return {"kind": self.kind, "sentence": self.sentence, "variables": list(self.variables)}


@dataclass(frozen=True)
class RowReasons:
    """The reasons of one row, or why it has none.

    Parameters
    ----------
    outcome : object
        The outcome of the row: a class or a number.
    is_adverse : bool
        Whether the outcome needs reasons.
    reasons : tuple of Reason, default=()
        The reasons, the most important first.
    refusal : Refusal or None, default=None
        Why an adverse outcome has no reasons.
    best_set : SufficientSet or None, default=None
        The set whose variables are the reasons, one of the smallest; None if it was not searched, or there is none.
    sufficient_sets : tuple of SufficientSet, default=()
        All sufficient sets of the row.
    rule : Rule or None, default=None
        The rule of the best set, from which the bounds are.
    row : int, default=0
        The position of the row in the table, from 0.
    id : str or None, default=None
        The identifier of the row, if rows have any.
    values : dict of str to object
        The row: its columns with their values, None for a missing one.
    prediction : object, default=None
        What the forest predicts for the row.
    pi : float, default=0.9
        The probability that a sufficient set must reach.
    is_search_complete : bool, default=True
        Whether all sets were searched.
    notes : tuple of str, default=()
        Sentences on what the reasons rest on: sets that contain a protected variable, variables that were left out.
    target : str, default="y"
        What the outcome is called.
    source : {"forest", "model", "given"}, default="forest"
        Where the outcome comes from.
    """

    outcome: Any
    is_adverse: bool
    reasons: tuple[Reason, ...] = ()
    refusal: Refusal | None = None
    best_set: SufficientSet | None = None
    sufficient_sets: tuple[SufficientSet, ...] = ()
    rule: Rule | None = None
    row: int = 0
    id: str | None = None
    values: dict[str, Any] = field(default_factory=dict, hash=False)
    prediction: Any = None
    pi: float = 0.9
    is_search_complete: bool = True
    notes: tuple[str, ...] = ()
    target: str = "y"
    source: Literal["forest", "model", "given"] = "forest"

    @property
    def status(self) -> Status:
        """What the row gets: "reasons", "refused" or "not_adverse"."""
        if not self.is_adverse:
            return "not_adverse"
        return "reasons" if self.refusal is None else "refused"

    @property
    def label(self) -> str:
        """What the row is called: "Row 7", or "Row" with its identifier."""
        return f"Row {self.row if self.id is None else self.id}"

    @property
    def outcome_text(self) -> str:
        """The outcome, as it is written."""
        return f"{self.target} = {format_outcome(self.outcome)}"

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the reasons, in their order."""
        return tuple(reason.code for reason in self.reasons)

    @property
    def minimal_sets(self) -> tuple[SufficientSet, ...]:
        """The sufficient sets of the smallest size, surest first."""
        size = 0 if self.best_set is None else len(self.best_set.variables)
        return tuple(chosen for chosen in self.sufficient_sets if len(chosen.variables) == size)

    @property
    def lead(self) -> str:
        """What the row gets, in one sentence."""
        if self.status == "not_adverse":
            return f"{self.outcome_text} is not adverse: no reasons are needed."
        if self.refusal is not None:
            return f"No reasons for {self.outcome_text}: {self.refusal.sentence} The row needs human review."
        assert self.best_set is not None
        n, sdp = counted(len(self.reasons), "reason"), format_probability(self.best_set.sdp)
        keep = "This alone keeps" if len(self.best_set.variables) == 1 else "Together, the variables of the set keep"
        return f"{n} for {self.outcome_text}. {keep} the outcome with probability {sdp}."

    @property
    @printed
    def text(self) -> str:
        """The reasons in plain words, one to a line."""
        return "\n".join([self.lead, *map(str, self.reasons), *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Return the reasons as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The row, its outcome, its reasons or its refusal, and what they rest on.
        """
        return {
            "row": self.row,
            "id": self.id,
            "outcome": to_plain(self.outcome),
            "status": self.status,
            "reasons": [reason.to_dict() for reason in self.reasons],
            "refusal": None if self.refusal is None else self.refusal.to_dict(),
            "target": self.target,
            "source": self.source,
            "prediction": to_plain(self.prediction),
            "pi": self.pi,
            "values": dict(self.values),
            "best_set": None if self.best_set is None else self.best_set.to_dict(),
            "sufficient_sets": [chosen.to_dict() for chosen in self.sufficient_sets],
            "is_search_complete": self.is_search_complete,
            "rule": None if self.rule is None else self.rule.to_dict(),
            "notes": list(self.notes),
        }

    @printed
    def __str__(self) -> str:
        """Return the reasons in plain words, with the name of the row."""
        return f"{self.label}: {self.text}"

    def _repr_html_(self) -> str:
        from suffice._show.cards import reason_card

        return reason_card(self)


@dataclass(frozen=True)
class ReasonSettings:
    """How reasons were asked for."""

    n: int
    adverse: tuple[Any, ...] | None
    protected: tuple[str, ...]
    adverse_text: str
    model: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain Python values, ready for JSON."""
        return {
            "n": self.n,
            "adverse": None if self.adverse is None else [to_plain(part) for part in self.adverse],
            "protected": list(self.protected),
            "model": self.model,
        }


class Reasons(RowAnswers[RowReasons]):
    """The reasons of some rows, in their order. Made by ``SufficientExplainer.reasons``.

    Parameters
    ----------
    answers : sequence of RowReasons
        The answer for each row.
    settings : ReasonSettings
        How they were asked for.
    codes : CodeBook
        The code book.
    fitted : Fitted
        The fitted state of the explainer.
    library : str or None
        The kind of the table, and of the frames that are made.
    """

    def __init__(
        self,
        answers: Sequence[RowReasons],
        settings: ReasonSettings,
        codes: CodeBook,
        fitted: Fitted,
        library: str | None,
    ) -> None:
        super().__init__(answers, fitted, library)
        self.settings = settings
        self.codes = codes

    @property
    def refusals(self) -> dict[RefusalKind, int]:
        """How many rows were refused for each kind of refusal; kinds that did not occur are left out."""
        counts = Counter(answer.refusal.kind for answer in self if answer.refusal is not None)
        return {kind: counts[kind] for kind in REFUSALS if counts[kind]}

    @property
    def n_adverse(self) -> int:
        """How many rows have an outcome that needs reasons."""
        return sum(answer.is_adverse for answer in self)

    @property
    def n_refused(self) -> int:
        """How many of them get no reasons and need human review."""
        return sum(answer.refusal is not None for answer in self)

    @property
    def code_counts(self) -> dict[str, int]:
        """How many rows have each code among their reasons, the most frequent first."""
        counts = Counter(code for answer in self for code in answer.codes)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def to_frame(self, of: Literal["rows", "reasons"] = "rows") -> Any:
        """Return the reasons as a frame of the same kind as the table; for an array, as a pandas frame.

        Parameters
        ----------
        of : {"rows", "reasons"}, default="rows"
            "rows": one line for each row, with its codes and texts in columns. "reasons": one line for each reason.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The frame.
        """
        check_word("of", of, ("rows", "reasons"))
        from suffice._io.result_table import reason_columns, reasoned_row_columns

        return make_frame(reasoned_row_columns(self) if of == "rows" else reason_columns(self), self.library)

    def to_dict(self) -> dict[str, Any]:
        """Return all reasons as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The settings, the counts of refusals, and the rows in their order.
        """
        return {
            "settings": self.settings.to_dict(),
            "n_adverse": self.n_adverse,
            "refusals": dict(self.refusals),
            "rows": [answer.to_dict() for answer in self],
        }

    @printed
    def __str__(self) -> str:
        """Return how many rows have reasons, how many were refused and why, and the most frequent codes."""
        n_reasons = self.n_adverse - self.n_refused
        which = "" if self.settings.adverse is None else f" whose outcome is {self.settings.adverse_text}"
        have = "has" if 1 in (n_reasons, self.n_adverse) else "have"
        lines = [f"{n_reasons} of {counted(self.n_adverse, 'row')}{which} {have} reasons."]
        n_others = len(self) - self.n_adverse
        if n_others:
            need = "needs" if n_others == 1 else "need"
            lines.append(f"{counted(n_others, 'row')} with another outcome {need} none.")
        if self.n_refused:
            listed = "; ".join(f"{REFUSALS[kind]} ({n})" for kind, n in self.refusals.items())
            need = "needs" if self.n_refused == 1 else "need"
            lines.append(f"{counted(self.n_refused, 'row')} {need} human review: {listed}.")
        counts = list(self.code_counts.items())[:5]
        if counts:
            lines.append("Most frequent codes: " + ", ".join(f"{code} ({n})" for code, n in counts) + ".")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from suffice._show.cards import reasons_card

        return reasons_card(self)
