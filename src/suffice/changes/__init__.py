"""What would change an outcome: boxes of values that give another one, for rows and for rules.

``finding`` answers the question for rows and for rules; ``limits`` reads what may change, ``search`` asks the core for
boxes, ``making`` writes them in the user's values, and ``model`` asks the explained model about them.
"""

from suffice.changes.values import Change, Changes, Move, RegionalChange, RegionalChanges, RowChanges

__all__ = ["Change", "Changes", "Move", "RegionalChange", "RegionalChanges", "RowChanges"]
