"""The pages: ``start``, ``one_row``, ``many_rows`` and ``rule_list``.

Each lays out its components from ``parts`` and connects their callbacks to ``state``. No page imports another one.
"""
