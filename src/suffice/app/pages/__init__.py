"""The pages: ``start``, ``one_row``, ``many_rows``, ``rule_list`` and ``model_quality``.

Each lays out its components from ``parts`` and connects their callbacks to ``state``. No page imports another one.
"""
