"""Tables as they come: their columns, the numbers that a forest sees, variables, and checks of what users pass.

Knows nothing of forests.
"""
