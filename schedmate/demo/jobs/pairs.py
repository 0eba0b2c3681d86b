"""Prints `key: value` pairs. Has a real bug: its evaluation looks up a score that was never computed."""

from schedmate.demo.jobs.fault import is_due
from schedmate.demo.jobs.training import Training

EVERY = 4  # steps per printed report
EVALUATION = 180  # step of the evaluation that fails


def evaluate(losses: list[float]) -> float:
    """Return the best score so far."""
    scores = {"mse": min(losses)}
    return scores["accuracy"]


def main() -> None:
    """Train."""
    training = Training(0.04)
    losses = []
    while True:
        losses.append(training.advance())
        if training.step % EVERY == 0:
            print(f"step: {training.step}  loss: {losses[-1]:.4f}  step_time: {training.step_time():.4f} s", flush=True)
        if training.step >= EVALUATION and is_due("pairs"):
            print(f"evaluation at step {training.step}: best {evaluate(losses):.3f}", flush=True)


if __name__ == "__main__":
    main()
