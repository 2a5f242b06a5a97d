"""Sufficient explanations: which few variables are enough to keep an outcome, and how surely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.certificates import Certificate
    from suffice.certification import CertifiedRules
    from suffice.code_book import CodeBook
    from suffice.conditions import Condition
    from suffice.errors import (
        CountsWarning,
        FidelityWarning,
        GiveawayWarning,
        IdentifierWarning,
        PrecisionWarning,
        RareCategoriesWarning,
        SearchSizeWarning,
        TextColumnWarning,
    )
    from suffice.explainer import SufficientExplainer
    from suffice.explanation import Explanation, SufficientSet
    from suffice.explanations import Explanations
    from suffice.global_rules import GlobalRule, GlobalRulesClassifier, GlobalRulesRegressor
    from suffice.quality import Quality
    from suffice.reasons import Reasons
    from suffice.rules import Rule
    from suffice.set_stability import SetStability
    from suffice.signal_check import SignalCheck

__version__ = "0.2.0"
__all__ = [
    "Certificate",
    "CertifiedRules",
    "CodeBook",
    "Condition",
    "CountsWarning",
    "Explanation",
    "Explanations",
    "FidelityWarning",
    "GiveawayWarning",
    "GlobalRule",
    "GlobalRulesClassifier",
    "GlobalRulesRegressor",
    "IdentifierWarning",
    "PrecisionWarning",
    "Quality",
    "RareCategoriesWarning",
    "Reasons",
    "Rule",
    "SearchSizeWarning",
    "SetStability",
    "SignalCheck",
    "SufficientExplainer",
    "SufficientSet",
    "TextColumnWarning",
    "__version__",
]

# Loaded when they are first used: scikit-learn takes a second, and `suffice --help` needs none of it.
_MODULE_OF = {
    "Certificate": "certificates",
    "CertifiedRules": "certification",
    "CodeBook": "code_book",
    "Condition": "conditions",
    "CountsWarning": "errors",
    "Explanation": "explanation",
    "Explanations": "explanations",
    "FidelityWarning": "errors",
    "GiveawayWarning": "errors",
    "GlobalRule": "global_rules",
    "GlobalRulesClassifier": "global_rules",
    "GlobalRulesRegressor": "global_rules",
    "IdentifierWarning": "errors",
    "Quality": "quality",
    "PrecisionWarning": "errors",
    "RareCategoriesWarning": "errors",
    "Reasons": "reasons",
    "Rule": "rules",
    "SearchSizeWarning": "errors",
    "SetStability": "set_stability",
    "SignalCheck": "signal_check",
    "SufficientExplainer": "explainer",
    "SufficientSet": "explanation",
    "TextColumnWarning": "errors",
}


def __getattr__(name: str) -> Any:
    """Load an exported name."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'suffice' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"suffice.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the exported names."""
    return __all__
