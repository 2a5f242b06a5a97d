"""Attacks on what must never fail: drawn cases, each checked against an oracle or for a clear error.

`make fuzz MINUTES=10` runs every target in `targets/` for ten minutes in all, each in processes of its own with a limit
on memory and time, so that a crash, a hang and a memory hog are seen as well as a wrong answer. A target is a module
with

- ``CASES``: a hypothesis strategy,
- ``check(case)``: raises if the answer is wrong, and returns how many things it compared,
- ``MAX_BYTES`` (optional): how much memory its process may have.

A seed that failed is added to `seeds.txt`; the tests run these seeds again, and a few new cases of every target.
"""
