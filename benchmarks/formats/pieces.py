"""What lines are made of: text, and numbers that know what they are."""

import math
from dataclasses import dataclass
from random import Random

from processors.read.roles import Role

from .names import Names

ROLES = {
    "step": Role.STEP,
    "step_in_epoch": Role.STEP,
    "epoch": Role.EPOCH,
    "epoch_fraction": Role.EPOCH,
    "sample": Role.SAMPLE,
    "token": Role.TOKEN,
    "loss": Role.LOSS,
    "loss_part_0": Role.LOSS_PART,
    "loss_part_1": Role.LOSS_PART,
    "loss_part_2": Role.LOSS_PART,
    "interval": Role.INTERVAL,
    "report_time": Role.INTERVAL,
    "elapsed": Role.ELAPSED,
    "remaining": Role.REMAINING,
    "rate_steps": Role.RATE,
    "rate_samples": Role.RATE,
    "rate_samples_each": Role.RATE,
    "rate_tokens": Role.RATE,
    "rate_tokens_each": Role.RATE,
    "batch_size": Role.BATCH_SIZE,
    "batch_size_each": Role.BATCH_SIZE,
    "sequence_length": Role.SEQUENCE_LENGTH,
    "steps": Role.END,
    "steps_per_epoch": Role.END,
    "epochs": Role.END,
}
"""Roles speak of the training: the loss, the count and the pace of an evaluation are `other`."""
OF_THE_PACE = ("interval", "rate_steps", "rate_samples")

_TIMES = ("rate_", "interval", "report_time", "data_time", "elapsed", "remaining")
_FRACTIONS = ("epoch_fraction", "percent", "loss", "evaluation_loss")
_RATE_UNITS = {
    "rate_steps": [
        "it/s",
        " it/s",
        " steps/s",
        " steps/sec",
        " batches/s",
        " iter/sec",
        "",
        "/s",
        " iterations per second",
        " шаг/сек",
        " 步/秒",
        " itér/s",
    ],
    "rate_samples": [
        " samples/s",
        " samples/sec",
        " img/s",
        " images/sec",
        " examples/sec",
        " ex/s",
        " fps",
        " frames/s",
        "",
        " seq/s",
        " 样本/秒",
        " obr/s",
    ],
    "rate_samples_each": [" samples/s/gpu", " img/sec/GPU", " samples/sec/device"],
    "rate_tokens": [" tok/s", " tokens/s", " tokens/sec", " wps", "", " tokens per second", " 词/秒"],
    "rate_tokens_each": [" tok/s/gpu", " tokens/sec/device", " tokens/s/GPU"],
}
_SECONDS = ["s", " s", " sec", "", "", " seconds", "s/it", " s/step", " sec/batch", "s/iter", " сек", "秒", " secs"]
_MILLISECONDS = ["ms", " ms", " msec", "ms/step", " ms/it", " milliseconds", "毫秒"]


@dataclass(frozen=True, slots=True)
class Number:
    """A printed number.

    Attributes:
        quantity: Of what.
        text: As printed.
        role: What it is to a reader of the training.
    """

    quantity: str
    text: str
    role: Role


Piece = str | Number


class Printer:
    """How one program prints numbers: the same every time.

    Args:
        random: Chooses.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self.names = Names(random)
        self._decimals = random.choice([2, 3, 4, 4, 5, 6])
        self._scientific = random.random() < 0.1
        self._thousands = random.random() < 0.1
        self._padded = random.choice([0, 0, 0, 0, 5])
        self._clock = random.random() < 0.5
        self._from_zero = {"epoch": random.random() < 0.4, "step_in_epoch": random.random() < 0.3}
        self._units: dict[str, tuple[str, float]] = {}
        self._suffixed = random.random() < 0.08
        self.spaced = random.random() < 0.7

    def name(self, quantity: str) -> str:
        """Return what a quantity is called."""
        return self.names.of(quantity)

    def unit(self, quantity: str) -> str:
        """Return the unit that stands behind a quantity; empty for none."""
        return self._unit(quantity)[0]

    def shift(self, quantity: str) -> int:
        """Return what a counter begins with: 0, or 1 where its values are to be taken as they are."""
        return -1 if self._from_zero.get(quantity) else 0

    def number(self, quantity: str, value: float, evaluation: bool = False) -> Number:
        """Return a value of a quantity as printed; `evaluation` says that it tells of one."""
        pace = evaluation and quantity in OF_THE_PACE
        return Number(quantity, self._text(quantity, value), Role.OTHER if pace else ROLES.get(quantity, Role.OTHER))

    def _text(self, quantity: str, value: float) -> str:
        if quantity in ("elapsed", "remaining") and self._clock:
            return _clock(value)
        if quantity.startswith(_TIMES):
            value *= self._unit(quantity)[1]
            return f"{value:.{max(1, 3 - int(math.log10(max(value, 1e-9))))}f}" if value < 1000 else f"{value:.1f}"
        if value == int(value) and not quantity.startswith(_FRACTIONS):
            return self._whole(quantity, int(value) + self.shift(quantity))
        if quantity == "learning_rate":
            return f"{value:.2e}" if self._scientific or value < 1e-4 else f"{value:.6f}"
        if self._scientific and quantity.startswith("loss"):
            return f"{value:.{self._decimals}e}"
        return f"{value:.{2 if quantity in ('epoch_fraction', 'percent') else self._decimals}f}"

    def _whole(self, quantity: str, value: int) -> str:
        if quantity in ("sample", "token") and self._suffixed and value >= 10_000:
            return f"{value / 1e3:.1f}k" if value < 1e6 else f"{value / 1e6:.2f}M"
        return f"{value:,}" if self._thousands else f"{value:0{self._padded if quantity == 'step' else 0}d}"

    def _unit(self, quantity: str) -> tuple[str, float]:
        if quantity not in self._units:
            self._units[quantity] = self._drawn_unit(quantity)
        return self._units[quantity]

    def _drawn_unit(self, quantity: str) -> tuple[str, float]:
        if quantity in _RATE_UNITS:
            return self._random.choice(_RATE_UNITS[quantity]), 1.0
        if quantity in ("interval", "data_time") and self._random.random() < 0.3:
            return self._random.choice(_MILLISECONDS), 1e3
        if quantity in ("interval", "data_time", "report_time"):
            units = _SECONDS if quantity == "interval" else _SECONDS[:6]
            return self._random.choice(units), 1.0
        if quantity in ("elapsed", "remaining") and not self._clock:
            return self._random.choice(["s", " s", " sec", ""]), 1.0
        return ("%" if quantity == "percent" else ""), 1.0


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"
