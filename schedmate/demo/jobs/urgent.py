"""Prints epochs, steps and rates. It must not wait."""

from schedmate.demo.jobs.training import Training

STEPS = 200  # steps in all
EVERY = 5  # steps per printed report


def main() -> None:
    """Train."""
    training = Training(0.03, seed=7)
    while training.step < STEPS:
        loss = training.advance()
        if training.step % EVERY == 0:
            print(f"step={training.step} loss={loss:.4f} steps_per_second={1 / training.step_time():.3f}", flush=True)


if __name__ == "__main__":
    main()
