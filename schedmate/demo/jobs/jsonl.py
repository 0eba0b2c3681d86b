"""Prints a JSON object per report, with a time stamp and no speed: that follows from steps and stamps."""

import json
from datetime import UTC, datetime

from schedmate.demo.jobs.training import Training

STEPS = 2000  # steps in all; the demo ends it earlier
EVERY = 5  # steps per printed report


def main() -> None:
    """Train until ended from outside."""
    training = Training(0.03)
    while training.step < STEPS:
        loss = training.advance()
        if training.step % EVERY == 0:
            stamp = datetime.now(UTC).isoformat(timespec="milliseconds")
            print(json.dumps({"time": stamp, "step": training.step, "loss": round(loss, 5)}), flush=True)


if __name__ == "__main__":
    main()
