"""Whether some order of a job's topics explains the records that were made of it.

A worker reads several topics at once, and nothing orders one against the other: an event may be taken before or after a chunk
that was written at the same time. Within a topic the order is fixed. So records are right where one way to merge the topics leads to
exactly these, from a fresh state; records of two different ways, mixed, are an error.
"""

from collections.abc import Mapping, Sequence

import msgspec

from benchmarks.chaos.replay import MADE, identity
from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import Position, Record
from streams.transport import outgoing

STEPS = (200, 2000, 20_000)
"""Records that are processed in search of an order, from either end in turn: most are found soon, and after the last there is none."""

_encode, _decoder = msgspec.json.Encoder().encode, msgspec.json.Decoder(JobState)

Input = tuple[Position, Record]


class OrderSearch:
    """Looks for an order of one job's inputs.

    Args:
        processor: What the workers run.
        wanted: What was made, values by `identity`.
        topics: The job's input by topic, each in order.
    """

    def __init__(self, processor: JobProcessor, wanted: Mapping[str, bytes], topics: Sequence[Sequence[Input]]) -> None:
        self._processor, self._wanted, self._topics = processor, wanted, topics

    def found(self, job: str) -> bool:
        """Return whether some order leads to exactly what was made of `job`."""
        topics = range(len(self._topics))
        return any(self._search(job, prefer, most) for most in STEPS for prefer in (topics, topics[::-1]))

    def _search(self, job: str, prefer: Sequence[int], most: int) -> bool:
        """Search from a fresh state, trying the next record of the first topic of `prefer` first."""
        pending = [(_encode(self._processor.fresh(job)), tuple(0 for _ in self._topics), frozenset[str](), 0)]
        reached, steps = set(pending), 0
        while pending and steps < most:
            state, at, made, tried = pending.pop()
            ahead = [index for index in prefer if at[index] < len(self._topics[index])]
            if not ahead and made == self._wanted.keys():
                return True
            if tried == len(ahead):
                continue
            steps += 1
            index, after = ahead[tried], _decoder.decode(state)
            ids = self._process(after, *self._topics[index][at[index]])
            if ids is None:
                pending.append((state, at, made, tried + 1))
                continue
            way = (_encode(after), (*at[:index], at[index] + 1, *at[index + 1 :]), made | ids, 0)
            if (way[0], way[2]) != (state, made):  # else it says nothing new, and when it is taken does not matter
                pending.append((state, at, made, tried + 1))
            if way not in reached:
                reached.add(way)
                pending.append(way)
        return False

    def _process(self, state: JobState, position: Position, record: Record) -> set[str] | None:
        """Return the identities of the records that follow from a record; None where one of them was not made."""
        made = [outgoing(each) for each in self._processor.process(state, position, record)]
        values = {
            identity(each.topic, each.value): each.value
            for each in made
            if each.topic in MADE and each.value is not None
        }
        return set(values) if all(self._wanted.get(key) == value for key, value in values.items()) else None
