"""The user's table: its columns, the numbers that a forest sees, the variables, and checks of what users pass.

Nothing here knows about forests.
"""
