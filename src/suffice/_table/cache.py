"""One cache for everything that is worth keeping for the next question."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class LastUsed:
    """Keep the values that were used last, by key. Several threads may use it."""

    def __init__(self, max_size: float, size: Callable[[Any], float] | None = None) -> None:
        self._max_size = max_size
        self._size = size
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the value of a key, and make it if it is not there.

        The lock is not held while a value is made: two threads that miss the same key both make it.
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > 1 and self._total() > self._max_size:
                self._values.popitem(last=False)
        return value

    def _total(self) -> float:
        return len(self._values) if self._size is None else sum(map(self._size, self._values.values()))

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self._values)

    def __iter__(self) -> Any:
        """Iterate over the keys, the one used longest ago first."""
        return iter(list(self._values))

    def __getstate__(self) -> dict[str, Any]:
        """Leave the values out of pickles and copies."""
        return {"_max_size": self._max_size, "_size": self._size}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin with no values."""
        self.__init__(state["_max_size"], state["_size"])  # type: ignore[misc]
