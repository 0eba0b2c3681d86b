"""A real, small training: a network of two layers learns what another one does to random numbers."""

from pathlib import Path

import numpy as np

BATCH = 64  # samples per step
INPUTS = 32  # inputs of a sample
NARROW = 64  # hidden units of the default network
RATE = 0.02
"""Learning rate of a network with `NARROW` hidden units; a wider one takes smaller steps."""
NOISE = 0.1
"""Standard deviation of what cannot be learnt: the loss levels out at its square."""


class Network:
    """Two layers, trained by plain gradient descent.

    Args:
        width: Hidden units; more of them take longer.
        seed: Where its random numbers begin.

    Attributes:
        rate: Learning rate.
    """

    def __init__(self, width: int = NARROW, seed: int = 0) -> None:
        self.rate = RATE * NARROW / width
        self._random = np.random.default_rng(seed)
        teacher = np.random.default_rng(4711)
        self._teacher = teacher.normal(0, 1 / np.sqrt(INPUTS), (INPUTS, 1))
        self._first = self._random.normal(0, 1 / np.sqrt(INPUTS), (INPUTS, width))
        self._second = self._random.normal(0, 1 / np.sqrt(width), (width, 1))

    def save(self, file: Path, step: int) -> None:
        """Keep what was learnt in `step` steps. A crash leaves the file before."""
        part = file.with_suffix(".part")
        with part.open("wb") as out:
            np.savez(out, first=self._first, second=self._second, step=step)
        part.replace(file)

    def load(self, file: Path) -> int:
        """Go on from what was kept, and return its step; 0 where nothing was."""
        if not file.exists():
            return 0
        with np.load(file) as kept:
            self._first, self._second = kept["first"], kept["second"]
            return int(kept["step"])

    def train(self) -> float:
        """Learn from one batch and return its mean squared error."""
        inputs = self._random.normal(size=(BATCH, INPUTS))
        wanted = np.tanh(inputs @ self._teacher) + NOISE * self._random.normal(size=(BATCH, 1))
        hidden = np.tanh(inputs @ self._first)
        error = hidden @ self._second - wanted
        back = (error @ self._second.T) * (1 - hidden**2)
        self._second -= self.rate * hidden.T @ error / BATCH
        self._first -= self.rate * inputs.T @ back / BATCH
        return float(np.mean(error**2))
