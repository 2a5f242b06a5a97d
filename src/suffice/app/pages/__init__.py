"""The pages. Each lays out its components and connects its callbacks, and imports no other page.

The page about one row, ``one_row``, has three helpers: ``row_inputs`` reads what users do, ``row_answers`` says what
the page shows, and ``row_panels`` are the panels with answers of their own: reasons, changes and stability.
"""
