"""Sufficient explanations: which few variables are enough to keep an outcome, and how surely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice._table.condition import Condition as Condition
    from suffice.changes.values import Changes as Changes
    from suffice.changes.values import RegionalChanges as RegionalChanges
    from suffice.checks.certificates import CertifiedRules as CertifiedRules
    from suffice.checks.quality import Quality as Quality
    from suffice.checks.refits import SignalCheck as SignalCheck
    from suffice.explainer import SufficientExplainer as SufficientExplainer
    from suffice.explaining.certificate import Certificate as Certificate
    from suffice.explaining.explanation import Explanation as Explanation
    from suffice.explaining.explanation import SufficientSet as SufficientSet
    from suffice.explaining.explanations import Explanations as Explanations
    from suffice.explaining.own_rule import rule as rule
    from suffice.explaining.rule import Rule as Rule
    from suffice.explaining.stability import SetStability as SetStability
    from suffice.reasons.code_book import CodeBook as CodeBook
    from suffice.reasons.values import Reasons as Reasons
    from suffice.rule_lists.estimators import GlobalRulesClassifier as GlobalRulesClassifier
    from suffice.rule_lists.estimators import GlobalRulesRegressor as GlobalRulesRegressor
    from suffice.rule_lists.measures import GlobalRule as GlobalRule

__version__ = "0.3.0"

# The exported names and their modules, loaded on first use: scikit-learn takes a second, and `suffice --help` needs
# none of it.
_MODULE_OF = {
    "Certificate": "explaining.certificate",
    "CertifiedRules": "checks.certificates",
    "Changes": "changes.values",
    "CodeBook": "reasons.code_book",
    "Condition": "_table.condition",
    "Explanation": "explaining.explanation",
    "Explanations": "explaining.explanations",
    "GlobalRule": "rule_lists.measures",
    "GlobalRulesClassifier": "rule_lists.estimators",
    "GlobalRulesRegressor": "rule_lists.estimators",
    "Quality": "checks.quality",
    "Reasons": "reasons.values",
    "RegionalChanges": "changes.values",
    "Rule": "explaining.rule",
    "SetStability": "explaining.stability",
    "SignalCheck": "checks.refits",
    "SufficientExplainer": "explainer",
    "SufficientSet": "explaining.explanation",
    "rule": "explaining.own_rule",
}
__all__ = [*_MODULE_OF, "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    """Load an exported name."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'suffice' has no attribute {name!r}")
    # `import_module` would put two more frames on the stack: in Python 3.11, scikit-learn then loads 60 ms more slowly.
    value = getattr(__import__(f"suffice.{_MODULE_OF[name]}", fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the exported names."""
    return list(__all__)
