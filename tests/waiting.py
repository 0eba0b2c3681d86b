"""Waits for conditions."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def until(reached: Callable[[], Found], seconds: float = 60.0, *, shown: Callable[[], object] = str) -> Found:
    """Return the result of `reached` once it is true; fail with the result of `shown` if it takes longer than `seconds`."""
    deadline = time.monotonic() + seconds
    while not (found := reached()):
        assert time.monotonic() < deadline, f"expected within {seconds:g} s: {reached.__qualname__} {shown()}"
        time.sleep(0.02)
    return found
