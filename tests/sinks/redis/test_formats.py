"""Formats in Redis: the newest record of each fingerprint, kept until a person withdraws it."""

import pytest

from schedmate_records import KnownFormat, decode
from tests.sinks.made import T0

from .store import Store, store

__all__ = ["store"]

pytestmark = pytest.mark.redis


def test_newest_record_of_a_format_is_kept_and_a_withdrawn_one_is_not(store: Store) -> None:
    def known(time: float, *, forgotten: bool = False) -> KnownFormat:
        return KnownFormat(id=f"{time}", fingerprint="f", time=T0 + time, author="m", forgotten=forgotten)

    key = f"{store.prefix}format:f"
    store.update(known(1), known(3))
    store.update(known(2))
    assert decode(KnownFormat, store.client.hget(key, "format").encode()) == known(3)
    assert store.client.ttl(key) > 365 * 86_400
    store.update(known(4, forgotten=True))
    assert store.client.hget(key, "format") is None
