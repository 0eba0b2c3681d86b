"""How a state is stored: what comes back, from several threads at once too."""

import random
from concurrent.futures import ThreadPoolExecutor

import msgspec

from streams.runtimes.stored import StateHeader, header, pack, unpack

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
