"""The loop that all demo jobs share: train, wait for data, clock the step."""

import time
from pathlib import Path

from schedmate.demo.jobs.clock import StepClock
from schedmate.demo.jobs.device import Device
from schedmate.demo.jobs.network import Network


class Training:
    """One training.

    Args:
        pace: Seconds that a step takes: a light job waits so long for its next batch, a heavy one works so long on its slot's device.
        heavy: Whether the device is the limit.
        width: Hidden units.
        seed: Where its random numbers begin.
        checkpoint: Goes on from there, where there is one.

    Attributes:
        step: Steps done.
    """

    def __init__(
        self, pace: float, *, heavy: bool = False, width: int = 64, seed: int = 0, checkpoint: Path | None = None
    ) -> None:
        self._network = Network(width, seed)
        self._pace = pace
        self._device = Device() if heavy else None
        self.step = self._network.load(checkpoint) if checkpoint else 0
        self._clock = StepClock()
        self._taken: list[float] = []

    def advance(self) -> float:
        """Do one step and return its loss."""
        if self._device is None:
            loss = self._train_until(self._clock.last + self._pace)
        else:
            with self._device.turn():
                loss = self._train_until(time.monotonic() + self._pace)
        self.step += 1
        self._taken.append(self._clock.tick(self.step))
        return loss

    def step_time(self) -> float:
        """Return the mean step time since the last call: on a busy host step times vary."""
        taken, self._taken = self._taken, []
        return sum(taken) / len(taken)

    def save(self, file: Path) -> None:
        """Write a checkpoint."""
        self._network.save(file, self.step)

    def _train_until(self, end: float) -> float:
        loss = self._network.train()
        time.sleep(max(0.0, end - time.monotonic()))
        return loss
