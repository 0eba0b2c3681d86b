"""River: learning online, with a line a few hundred samples: a metric, the time and the memory."""

import math
import random
import sys
from collections.abc import Iterator

from clock import Clock
from river import evaluate, linear_model, metrics, preprocessing

SETUPS = ("log_loss_time", "accuracy_time_memory")
SAMPLES = 3000


def train(setup: str) -> None:
    chooser = random.Random(0)
    interval = 100 if setup == "log_loss_time" else 250
    clock = Clock(pace=0.006, batch=1, interval=interval)

    def samples() -> Iterator[tuple[dict[str, float], bool]]:
        for _ in range(SAMPLES):
            one, two = chooser.gauss(0, 1), chooser.gauss(0, 1)
            yield {"one": one, "two": two}, chooser.random() < 1 / (1 + math.exp(-2 * one))

    class Slow(linear_model.LogisticRegression):  # type: ignore[misc]
        """Clocks what it learns."""

        def learn_one(self, x: dict[str, float], y: bool, w: float = 1.0) -> None:
            super().learn_one(x, y, w)
            clock.step()

    metric = metrics.LogLoss() if setup == "log_loss_time" else metrics.Accuracy()
    clock.begin()
    evaluate.progressive_val_score(
        samples(),
        preprocessing.StandardScaler() | Slow(),
        metric,
        print_every=interval,
        show_time=True,
        show_memory="memory" in setup,
    )
    clock.finish(step=SAMPLES, loss=metric.get() if setup == "log_loss_time" else None)


if __name__ == "__main__":
    train(sys.argv[1])
