"""The command ``suffice``: its commands, one module each, what they print, and work on large files part by part.

Nothing imports this room. ``main`` turns errors into one sentence and an exit code.
"""
