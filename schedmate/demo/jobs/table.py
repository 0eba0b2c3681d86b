"""Prints a table: a header per epoch, a row per report."""

from schedmate.demo.jobs.training import Training

EPOCHS = 3  # epochs in all
BATCHES = 60  # steps per epoch
EVERY = 3  # steps per printed report


def main() -> None:
    """Train."""
    training = Training(0.04)
    for epoch in range(1, EPOCHS + 1):
        print(f"{'epoch':>6} {'batch':>6} {'loss':>8} {'s/batch':>8}", flush=True)
        for batch in range(1, BATCHES + 1):
            loss = training.advance()
            if batch % EVERY == 0:
                print(f"{epoch:>6} {batch:>6} {loss:8.4f} {training.step_time():8.4f}", flush=True)


if __name__ == "__main__":
    main()
