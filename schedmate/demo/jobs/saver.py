"""Prints a line a report, and saves checkpoints. Evicted, it resumes from the checkpoint that it is given when it starts again."""

import os
from pathlib import Path

from schedmate.demo.jobs.training import Training

STEPS = 300  # steps in all
EVERY = 5  # steps per printed report
CHECKPOINT = 40  # steps per checkpoint


def main() -> None:
    """Train."""
    checkpoint = os.environ.get("SCHEDMATE_CHECKPOINT", "")
    training = Training(0.04, checkpoint=Path(checkpoint) if checkpoint else None)
    if checkpoint:
        print(f"resuming from {checkpoint} at step {training.step}", flush=True)
    while not checkpoint or training.step < STEPS:  # the demo evicts it: only the resumed attempt comes to an end
        loss = training.advance()
        if training.step % EVERY == 0:
            print(f"step {training.step} | loss {loss:.4f} | step_time {training.step_time():.4f} s", flush=True)
        if training.step % CHECKPOINT == 0:
            path = Path.cwd() / f"saver-step{training.step}.npz"
            training.save(path)
            print(f"Saved checkpoint to {path}", flush=True)


if __name__ == "__main__":
    main()
