"""The loop that all demo jobs share: train, wait for data, clock the step."""

import time
from pathlib import Path

from schedmate.demo.jobs.clock import StepClock
from schedmate.demo.jobs.network import Network

CALIBRATION = 40
"""Batches timed to find out how many fill a step."""


class Training:
    """One training.

    Args:
        pace: Seconds that a step takes. A light job learns from one batch and then waits for the next, as one whose data loader is the
            limit; a heavy one learns from as many batches as fill the step on a core of its own.
        heavy: Whether the processor is the limit.
        width: Hidden units.
        seed: Where its random numbers begin.
        checkpoint: Goes on from there, where there is one.

    Attributes:
        step: Steps done.
        seconds: What the last one took.
    """

    def __init__(
        self, pace: float, *, heavy: bool = False, width: int = 64, seed: int = 0, checkpoint: Path | None = None
    ) -> None:
        self._network = Network(width, seed)
        self._pace = pace
        self._heavy = heavy
        self._batches = self._calibrate() if heavy else 1
        self._network.rate /= self._batches
        self._checkpoint = checkpoint
        self.step = self._network.load(checkpoint) if checkpoint else 0
        self._clock = StepClock()
        self.seconds = pace

    def advance(self) -> float:
        """Do one step and return its loss."""
        losses = [self._network.train() for _ in range(self._batches)]
        if not self._heavy:
            time.sleep(max(0.0, self._clock.last + self._pace - time.monotonic()))
        self.step += 1
        self.seconds = self._clock.tick(self.step)
        return sum(losses) / len(losses)

    def save(self) -> None:
        """Write a checkpoint."""
        assert self._checkpoint is not None
        self._network.save(self._checkpoint, self.step)

    def _calibrate(self) -> int:
        """Return how many batches fill a step. Processor time alone counts, so that neighbours change nothing."""
        self._network.train()
        begin = time.thread_time()
        for _ in range(CALIBRATION):
            self._network.train()
        return max(1, round(self._pace * CALIBRATION / (time.thread_time() - begin)))
