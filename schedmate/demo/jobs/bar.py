"""Prints as `tqdm(…, miniters=2, mininterval=0, smoothing=1)` does.

One line on standard error, redrawn with a carriage return at every second step, with the rate of those two steps.
"""

import sys
import time

from schedmate.demo.jobs.training import Training

STEPS = 1500  # steps in all
EVERY = 2  # steps per redraw of the bar
BLOCKS = " ▏▎▍▌▋▊▉█"
WIDTH = 10  # characters of the bar


class ProgressBar:
    """A progress bar over `total` steps."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._begin = self._drawn = time.monotonic()
        self._count = 0

    def update(self, count: int, loss: float) -> None:
        """Show `count` steps."""
        now = time.monotonic()
        rate = (count - self._count) / (now - self._drawn)
        self._count, self._drawn = count, now
        speed = f"{rate:5.2f}it/s" if rate >= 1 else f"{1 / rate:5.2f}s/it"
        times = f"{_clock(now - self._begin)}<{_clock((self._total - count) / rate)}"
        share = count / self._total
        sys.stderr.write(
            f"\rtrain: {share:4.0%}|{_blocks(share)}| {count}/{self._total} [{times}, {speed}, loss={loss:.4f}]"
        )
        sys.stderr.flush()


def _blocks(share: float) -> str:
    eighths = round(share * WIDTH * 8)
    full, part = divmod(eighths, 8)
    return (BLOCKS[-1] * full + (BLOCKS[part] if part else "")).ljust(WIDTH)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"


def main() -> None:
    """Train."""
    training = Training(0.01, heavy=True)
    bar = ProgressBar(STEPS)
    while training.step < STEPS:
        loss = training.advance()
        if training.step % EVERY == 0:
            bar.update(training.step, loss)
    sys.stderr.write("\n")


if __name__ == "__main__":
    main()
