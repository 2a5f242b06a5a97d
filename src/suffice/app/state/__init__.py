"""What a running app holds: views, workspaces, uploads, and jobs with their results.

These modules know nothing of the page: they import neither Dash nor ``parts`` nor ``pages``.
"""
