"""What pages are made of: pieces, charts, grids and progress bars.

A part turns values into components. It may use ``state``, but no page; it connects no callback.
"""
