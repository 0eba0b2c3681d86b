"""Two ranks that print as Megatron does, on one device: heavy on it.

Each goes on from its checkpoint when it is started again.
"""

import os
from pathlib import Path

from schedmate.demo.jobs.training import Training

STEPS = 130  # steps in all
EVERY = 4  # steps per printed report
CHECKPOINT = 10  # steps per checkpoint


def main() -> None:
    """Train."""
    rank = int(os.environ["RANK"])
    checkpoint = Path(f"rank{rank}.npz")
    training = Training(0.1, heavy=True, width=256, seed=rank, checkpoint=checkpoint)
    while training.step < STEPS:
        loss = training.advance()
        if training.step % EVERY == 0:
            print(
                f" iteration {training.step:8d}/{STEPS:8d} | elapsed time per iteration (ms): {training.step_time() * 1000:.1f} "
                f"| lm loss: {loss:.6E} |",
                flush=True,
            )
        if training.step % CHECKPOINT == 0:
            training.save(checkpoint)


if __name__ == "__main__":
    main()
