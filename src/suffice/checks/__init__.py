"""How far explanations can be trusted: certificates, quality of predictions, signal, and stability of best sets.

Rules are checked on rows that had no part in finding them, and the forest is grown again with other seeds, on other
rows or for shuffled outcomes. `SufficientExplainer` has a method for each check.
"""

from suffice.checks.certificates import CertifiedRules
from suffice.checks.quality import Quality
from suffice.checks.refits import SignalCheck
from suffice.explaining.certificate import Certificate
from suffice.explaining.stability import RowStability, SetStability

__all__ = ["Certificate", "CertifiedRules", "Quality", "RowStability", "SetStability", "SignalCheck"]
