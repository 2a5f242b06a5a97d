"""Lists of sufficient rules that predict: two estimators in scikit-learn's manner.

The local rules of training rows are mined and measured, few are chosen to be summed, and fresh rows certify them.
Lines, list and certificates are values; the estimators call functions of them.
"""

from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor
from suffice.rule_lists.evaluating import Comparison, Evaluation
from suffice.rule_lists.measures import GlobalRule

__all__ = ["Comparison", "Evaluation", "GlobalRule", "GlobalRulesClassifier", "GlobalRulesRegressor"]
