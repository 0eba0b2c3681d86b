"""How a state is stored: what comes back, from several threads at once too."""

import random
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from backports import zstd

from streams.runtimes import stored
from streams.runtimes.stored import StateHeader, UnreadableState, header, pack, unpack

HEADER = StateHeader(ended=True, progress=7, touched=1e9, epoch=3)


class Some(msgspec.Struct):
    text: str


def test_engines_in_threads_of_their_own_do_not_mix_states_up() -> None:
    chance = random.Random(1)
    states = [Some("".join(chance.choices("abcdefgh ", k=20_000))) for _ in range(8)]

    def there_and_back(state: Some) -> bool:
        return all(unpack(pack(state, HEADER)) == msgspec.json.encode(state) for _ in range(100))

    with ThreadPoolExecutor(len(states)) as threads:
        assert all(threads.map(there_and_back, states))
    assert header(pack(states[0], HEADER)) == HEADER


def test_a_state_that_is_cut_off_is_refused() -> None:
    whole = pack(Some("a state"), HEADER)
    for end in (5, len(whole) - 1):
        with pytest.raises(UnreadableState):
            unpack(whole[:end])


def test_state_of_another_format_is_refused() -> None:
    packed = pack(Some("a state"), HEADER)
    with pytest.raises(UnreadableState, match="expected a state of format"):
        header(bytes([packed[0] + 1]) + packed[1:])


def test_a_small_message_that_would_become_large_is_refused() -> None:
    packed = pack(Some(""), HEADER)
    before = packed[: packed.index(zstd.compress(b"")[:4])]
    bomb = before + zstd.compress(bytes(100 << 20))
    assert len(bomb) < 20_000
    with pytest.raises(UnreadableState, match=str(stored.LARGEST << 6)):
        unpack(bomb)
