"""Parts of the sentences about changes, for rows and for rules alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice._forest.outcomes import range_text
from suffice._text import counted, format_category, format_value, name_model

if TYPE_CHECKING:
    from suffice._table.encoding import Column

# Categories that a sentence lists before it only counts them.
N_LISTED = 5


def name_target(name: str) -> str:
    """Write what the outcomes are called, as the subject of a sentence."""
    return "the outcome" if name in ("y", "prediction") else name


def confirmation_text(model: str | None, confirmed: bool | None, share: float | None, n_asked: int) -> str:
    """Write whether the model confirms a change, and for how many moved rows it does; nothing if it was not asked."""
    if confirmed is None:
        return ""
    name = name_model(model)
    text = f"{name[0].upper()}{name[1:]} {'confirms' if confirmed else 'does NOT confirm'} this"
    if share is None:
        return f"{text}."
    return f"{text}; it agrees for {round(share * n_asked)} of {counted(n_asked, 'row')} moved into this range."


def move_text(column: Column, before: Any, after: Any, low: float, high: float, labels: tuple[Any, ...]) -> str:
    """Write what happens to a column."""
    if column.reads == "yes/no" and {before, after} <= {0, 1, None}:
        before, after = (None if value is None else bool(value) for value in (before, after))
        column, labels = column.drawn, tuple(flag for flag in (False, True) if low <= flag <= high)
    own = format_value(before) if before is None or column.kind != "category" else quoted(before)
    if after is None:
        return f"making {column.name} missing (now {own})"
    if column.kind == "category":
        others = [quoted(label) for label in labels if label != after]
        shown = [quoted(after), *others[: N_LISTED - 1]]
        n_more = len(others) - N_LISTED + 1
        values = f"{', '.join(shown)} or {n_more} more" if n_more > 0 else _either(shown)
    else:
        values = range_text(low, high)
    if before is None:
        return f"setting {column.name} (now missing) to {values}"
    is_amount = column.kind != "category" and column.part is None
    verb = ("raising" if after > before else "lowering") if is_amount else "changing"
    return f"{verb} {column.name} from {own} to {values}"


def _either(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def quoted(label: Any) -> str:
    """Write a category; in quotes if it holds words of the sentence around it: "from 0 to 5 to 9" has two readings."""
    text = format_category(label)
    is_unclear = any(word in text for word in (" to ", " or ", " and ", ","))
    return f'"{text}"' if is_unclear and not text.startswith('"') else text
