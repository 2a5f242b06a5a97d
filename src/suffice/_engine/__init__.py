"""The method: the forest, its projection onto sets of variables, candidates, the search for sufficient sets and rules.

The only room that calls the compiled core.
"""
