"""Prints as a trainer class does: a Python dict per report. On its first start its GPU falls off the bus."""

import os

from schedmate.demo.jobs.fault import gpu_falls_off_the_bus, is_due
from schedmate.demo.jobs.training import Training

STEPS = 220  # steps in all
EVERY = 5  # steps per printed report
EPOCH = 110  # steps per epoch
FAULT = 110  # step at which the fault occurs


def main() -> None:
    """Train."""
    training = Training(0.05)
    first = os.environ["LOCAL_RESTART_COUNT"] == "0"
    while first or training.step < STEPS:
        loss = training.advance()
        if training.step % EVERY == 0:
            report = {
                "loss": round(loss, 4),
                "learning_rate": round(5e-5 * max(0.0, 1 - training.step / STEPS), 9),
                "epoch": round(training.step / EPOCH, 2),
                "step": training.step,
                "steps_per_second": round(1 / training.step_time(), 3),
            }
            print(report, flush=True)
        if first and training.step >= FAULT and is_due("trainer"):
            gpu_falls_off_the_bus()


if __name__ == "__main__":
    main()
