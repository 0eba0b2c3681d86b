"""Clocks the steps of a training from inside, and writes the truth about it. Standard library only: it runs in every environment.

A run calls `begin` when the first step starts, and again when something that is no step has ended (an evaluation, a pause); `step`
when a step has ended; `finish` with what its log tells. A step lasts from the end of the one before (or from `begin`) to its own end,
logging and loading of data included, as a user would time it.
"""

import json
import os
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path

NEWEST = 20
"""Reports that the truth about speed rests on, as in the definition of the scores."""


class Clock:
    """One run's clock.

    Args:
        pace: Seconds that a step lasts at least: made-up models are faster than anything that a log reports of real ones, and a
            machine's noise hides below it.
        batch: Samples of one step over all ranks; 0 where the framework has none (boosting rounds).
        tokens: Tokens of one step over all ranks; 0 where the log has none.
        world: Ranks, for rates that are told of each.
        interval: Steps from report to report.
        slow_start: Seconds that the first step takes longer, as compilation does.
        pause: Seconds for which the training stands still in its middle.
        pause_after: Steps before that pause.
        now: The clock; tests set it.
        sleep: How to wait; tests set it.
    """

    def __init__(
        self,
        *,
        pace: float = 0.03,
        batch: int = 0,
        tokens: int = 0,
        world: int = 1,
        interval: int = 1,
        slow_start: float = 0.0,
        pause: float = 0.0,
        pause_after: int = 0,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.pace, self.batch, self.tokens, self.world, self.interval = pace, batch, tokens, world, interval
        self._slow_start, self._pause, self._pause_after = slow_start, pause, pause_after
        self._now, self._sleep = now, sleep
        self._mark: float | None = None
        self.durations: list[float] = []
        self.losses: list[float | None] = []

    def begin(self) -> None:
        """A step starts now; the time since the last one was none of its time."""
        self._mark = self._now()

    def step(self, loss: float | None = None) -> None:
        """A step ends, after it was drawn out to the pace."""
        if self._mark is None:
            self.begin()
        assert self._mark is not None
        least = self.pace + (self._slow_start if not self.durations else 0.0)
        if self._pause and len(self.durations) == self._pause_after:
            least += self._pause
        left = self._mark + least - self._now()
        if left > 0:
            self._sleep(left)
        end = self._now()
        self.durations.append(end - self._mark)
        self.losses.append(None if loss is None else float(loss))
        self._mark = end

    @property
    def steps(self) -> int:
        """Steps clocked so far."""
        return len(self.durations)

    def truth(
        self,
        step: int | Iterable[int] | None = None,
        loss: float | Iterable[float] | None = None,
        speed: bool = True,
        unsaid: Iterable[str] = (),
        larger: Iterable[int] = (),
    ) -> dict[str, object]:
        """Return the truth, ready for JSON.

        Args:
            step: Step of the last training report; several where a log counts in two ways (in the epoch, and in all). None where
                the log tells no step.
            loss: Training loss of the last report; several where it prints two (of the step, and smoothed). None where it tells none.
            speed: The log itself tells the speed: a rate, a duration or times, from which it follows without arrival times.
            unsaid: Of `step` and `loss`, those of which null is right as well: the log tells them only to who guesses.
            larger: Where a log counts in larger steps too (an iteration of 64 steps of an environment), of how many clocked ones.
        """
        newest = self.durations[-NEWEST * self.interval :]
        median = statistics.median(newest)
        larger = list(larger)
        # What is no step of its own (a slow start, a pause) stays out of the mean, but not what each larger step ends with.
        steady = newest if larger else [each for each in newest if each <= 2 * median]
        return {
            "step_time_s": round(median, 6),
            "step_time_mean_s": round(statistics.fmean(steady), 6),
            "also_step_time_s": [round(statistics.fmean(newest) * each, 6) for each in larger],
            "samples_per_s": round(self.batch / median, 3) if self.batch else None,
            "tokens_per_s": round(self.tokens / median, 3) if self.tokens else None,
            "steps": self.steps,
            "world": self.world,
            "interval": self.interval,
            "last_step": _several(step),
            "last_loss": [round(float(each), 8) for each in _several(loss)],
            "tells": {
                "speed": speed,
                "step": step is not None and "step" not in unsaid,
                "loss": loss is not None and "loss" not in unsaid,
            },
            "step_ms": [round(each * 1000, 1) for each in self.durations],
            "step_loss": [None if each is None else round(each, 6) for each in self.losses],
        }

    def finish(
        self,
        step: int | Iterable[int] | None = None,
        loss: float | Iterable[float] | None = None,
        speed: bool = True,
        unsaid: Iterable[str] = (),
        larger: Iterable[int] = (),
    ) -> None:
        """Write the truth where the generator wants it (`CORPUS_TRUTH`); of several ranks, the first does. See `truth`."""
        target = os.environ.get("CORPUS_TRUTH")
        if target and os.environ.get("RANK", "0") == "0":
            Path(target).write_text(json.dumps(self.truth(step, loss, speed, unsaid, larger)))


def _several(value: object) -> list:  # type: ignore[type-arg]  # ints or floats, as they came
    if value is None:
        return []
    return list(value) if isinstance(value, Iterable) else [value]
