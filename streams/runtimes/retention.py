"""Storing and forgetting of states."""

from collections.abc import Callable, Mapping
from typing import Generic

from processors.keyed import State

from .metrics import EngineMetrics
from .results import Results
from .state_entry import StateEntry
from .states import States
from .stored import StateHeader

CHECKPOINT_S = 1.0
"""Seconds between two looks for states to store: what is due waits no longer, and a look at thousands of states costs little."""
REPLAY_WORK_S = 5.0
"""Seconds of processing after which what a state lacks in its topic is stored: so long a restart takes to do it again."""
ENDED_S = 3600.0
"""A state is forgotten so long after it last took something in, where its key has ended: lines may come late."""
SILENT_S = 3 * 86_400.0
"""And so long in any case: as long as input is kept."""
MOST = 200_000
"""States held, beyond which those of silent keys are forgotten sooner: anybody may send records of new keys. First go those of
unconfirmed keys that were active for a short time; the others only where they alone exceed the limit."""
LONG_S, LONG_INPUTS = 600.0, 100
"""Seconds from a key's first input to its newest, or number of inputs, from which it counts as active for long: made-up keys are cheap
only where each has a line or two."""
LONG_ACTIVE, CONFIRMED = 1, 2
"""Ranks of states: active for long; confirmed by a source that users cannot forge, and going on."""
_SWEPT = 2000
"""States that are looked at in one look for what may be forgotten: some milliseconds of work at most."""


class Retention(Generic[State]):
    """Looks after the states of an engine.

    Args:
        partitions: The states by partition; the engine adds and takes away.
        steady: Seconds on a clock that never goes back, by which input that is not stored yet ages.
        checkpoint_s: Seconds between two looks for states to store.
        replay_work_s: Seconds of processing that a restart may have to do again.
    """

    def __init__(
        self,
        partitions: Mapping[int, States[State]],
        metrics: EngineMetrics,
        steady: Callable[[], float],
        checkpoint_s: float,
        replay_work_s: float,
    ) -> None:
        self._partitions, self._metrics, self._steady = partitions, metrics, steady
        self._checkpoint_s, self._replay_work_s = checkpoint_s, replay_work_s
        self._looked = steady()
        self._sweep: list[tuple[int, str]] = []
        self._seen = self._held = [0] * (CONFIRMED + 1)

    def keep(self, work: float, results: Results) -> None:
        """Add to `results` what is due: what has been processed for long, and what must leave the memory.

        Args:
            work: Seconds of processing so far.
            results: What follows from the newest batch.
        """
        now = self._steady()
        for states in self._partitions.values():
            # Keep the 4,096 last used states decoded: more jobs than print at one time, at about 10 KB each.
            for entry in states.close(max(4096 // len(self._partitions), 64)):
                _store(states, entry, results)
        if now - self._looked < self._checkpoint_s:
            return
        self._looked = now
        self._forget_some(results)
        for states in self._partitions.values():
            stored = len(results.states) + len(results.parts)
            for entry in list(states.dirty.values()):
                worked, since = entry.dirty_at
                # Store after 300 s in any case: a restart reads at most that much of the topic again.
                if work - worked < self._replay_work_s and now - since < 300.0:
                    break
                _store(states, entry, results)
            if len(results.states) + len(results.parts) > stored:
                states.marker.replay = states.replay_from()
                results.markers.append(states.stored_marker())

    def _forget_some(self, results: Results) -> None:
        """Look at some of the states that are not in use, all of them in turn; forget those of keys that have ended or are silent."""
        if not self._sweep:
            self._sweep = [(partition, name) for partition, states in self._partitions.items() for name in states]
            self._held, self._seen = self._seen, [0] * (CONFIRMED + 1)
        held = [max(len(self._sweep), sum(map(len, self._partitions.values()))), *self._held[1:]]
        silent = [_silent_s(each) for each in held]
        for partition, name in self._sweep[-_SWEPT:]:
            states = self._partitions.get(partition)
            known = states.header(name) if states is not None else None
            if states is None or known is None:
                continue
            own = rank(known)
            for lower in range(own + 1):
                self._seen[lower] += 1
            silent_s = silent[own]
            if states.time - known.touched > (min(ENDED_S, silent_s) if known.ended else silent_s):
                results.parts += states.forget(name)
                self._metrics.forgotten.inc()
        del self._sweep[-_SWEPT:]


def rank(known: StateHeader) -> int:
    """Return the reason to keep a state: `CONFIRMED`, `LONG_ACTIVE`, or 0 for none."""
    if known.confirmed:
        return CONFIRMED
    is_long = known.touched - known.born >= LONG_S or known.inputs >= LONG_INPUTS
    return LONG_ACTIVE if is_long else 0


def _silent_s(held: int) -> float:
    """Return after how many seconds of silence states are forgotten where `held` of their rank or above are held."""
    return SILENT_S if held <= MOST else SILENT_S * (MOST / held) ** 8


def _store(states: States[State], entry: StateEntry[State], results: Results) -> None:
    own, parts = states.store(entry)
    results.states += own
    results.parts += parts
