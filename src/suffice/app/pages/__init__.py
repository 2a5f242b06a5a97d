"""The pages. Each lays out its components and connects its callbacks, and imports no other page.

The page about one row, ``one_row``, has three helpers: ``row_inputs`` reads what users do, ``row_answers`` gives the
answers in reading order, and ``row_more`` has the parts that are loaded when they are opened.
"""
