"""The reasons of decisions: the variables of a small sufficient set, in order, in the wording of a code book.

``search`` finds them, or refuses those that would not be true; a code book gives them their words.
"""

from suffice.reasons.code_book import CodeBook, CodeLine
from suffice.reasons.values import Reason, Reasons, Refusal, RowReasons

__all__ = ["CodeBook", "CodeLine", "Reason", "Reasons", "Refusal", "RowReasons"]
