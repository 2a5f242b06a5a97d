"""Is it always so: what holds at every point, proven on the trees of the user's own model.

``ensemble`` is the model as arrays, ``domain`` the points that are considered, ``search`` the questions to the core;
``proving`` checks rules, ``reasons`` and ``finding`` look for certain reasons and the nearest other decision.
"""

from suffice.explaining.proof import Proof
from suffice.proofs.proving import ProvenRules
from suffice.proofs.values import CertainReason, CertainReasons, NearestOther

__all__ = ["CertainReason", "CertainReasons", "NearestOther", "Proof", "ProvenRules"]
