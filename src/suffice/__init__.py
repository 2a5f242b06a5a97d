"""Sufficient explanations: which few variables are enough to keep an outcome, and how surely."""

from suffice.errors import FidelityWarning, RareCategoriesWarning, SearchSizeWarning
from suffice.explainer import SufficientExplainer
from suffice.explanation import Explanation, Explanations, SufficientSet
from suffice.global_rules import GlobalRule, GlobalRulesClassifier, GlobalRulesRegressor
from suffice.rules import Condition, Rule

__version__ = "0.1.0"
__all__ = [
    "Condition",
    "Explanation",
    "Explanations",
    "FidelityWarning",
    "GlobalRule",
    "GlobalRulesClassifier",
    "GlobalRulesRegressor",
    "RareCategoriesWarning",
    "Rule",
    "SearchSizeWarning",
    "SufficientExplainer",
    "SufficientSet",
    "__version__",
]
