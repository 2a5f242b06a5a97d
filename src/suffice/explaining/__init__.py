"""Which few variables are enough to keep the outcome of a row, and within which bounds.

``search`` finds sufficient sets and maximal rules; ``explanation`` and ``explanations`` hold what was found for one row
and for many, ``sentences`` says it in words, and ``curve`` follows one variable.
"""

from suffice._table.condition import Condition
from suffice.explaining.certificate import Certificate
from suffice.explaining.explanation import Explanation, SufficientSet
from suffice.explaining.explanations import Explanations
from suffice.explaining.rule import Rule
from suffice.explaining.stability import RowStability, SetStability

__all__ = [
    "Certificate",
    "Condition",
    "Explanation",
    "Explanations",
    "RowStability",
    "Rule",
    "SetStability",
    "SufficientSet",
]
