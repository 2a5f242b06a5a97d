"""The cache: what it keeps, what it forgets, and its use by several threads."""

from __future__ import annotations

import pickle
import sys
import threading
import time

import pytest

from suffice._table.cache import LastUsed


def test_a_value_is_made_once():
    made = []
    cache = LastUsed(3)
    for key in (1, 2, 1, 2, 1):
        assert cache.get(key, lambda: made.append(key) or 10 * key) == 10 * key  # noqa: B023
    assert made == [1, 2]


def test_the_value_used_longest_ago_goes_first():
    cache = LastUsed(2)
    for key in "abac":
        cache.get(key, lambda: None)
    assert list(cache) == ["a", "c"]


def test_values_go_until_they_fit_but_the_last_one_stays():
    cache = LastUsed(10, len)
    for key, size in (("a", 4), ("b", 5), ("c", 3), ("d", 99)):
        cache.get(key, lambda: "x" * size)  # noqa: B023
        expected = {"a": ["a"], "b": ["a", "b"], "c": ["b", "c"], "d": ["d"]}
        assert list(cache) == expected[key]
    assert len(cache) == 1


def test_none_is_a_value_and_an_error_leaves_no_trace():
    cache = LastUsed(3)
    assert cache.get("a", lambda: None) is None
    assert cache.get("a", lambda: 1) is None
    with pytest.raises(ZeroDivisionError):
        cache.get("b", lambda: 1 / 0)
    assert list(cache) == ["a"]


def test_a_pickled_cache_is_empty():
    cache = LastUsed(3, len)
    cache.get("a", lambda: "x")
    copy = pickle.loads(pickle.dumps(cache))
    assert len(copy) == 0
    assert copy.get("a", lambda: "yy") == "yy"


def test_threads_get_their_own_answers():
    cache = LastUsed(4)
    wrong = []

    def work(start):
        for i in range(300):
            key = (start + i) % 9
            if cache.get(key, lambda: 7 * key) != 7 * key:  # noqa: B023
                wrong.append(key)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(cache) == 4


def test_threads_never_get_the_value_of_another_key():
    """A cache of one value kept key and value in two steps: a thread in between got the value of another key."""
    cache, wrong = LastUsed(1), []

    def work(number):
        for i in range(500):
            key = (number * 7 + i) % 5
            if cache.get(key, lambda key=key: time.sleep(0) or key) != key:  # other threads run meanwhile
                wrong.append(key)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong
