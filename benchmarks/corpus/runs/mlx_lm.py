"""MLX LM: its table of iterations over a bar, drawn on a terminal and plain."""

import sys

import mlx.core as mx
import mlx.optimizers as optim
from clock import Clock
from mlx_lm.models.llama import Model, ModelArgs
from mlx_lm.tuner import trainer
from mlx_lm.tuner.callbacks import TrainingCallback

SETUPS = ("table", "table_validation_terminal")
BATCH, LENGTH, STEPS, INTERVAL = 4, 32, 200, 10


class Rows:
    """Made-up tokens."""

    def __init__(self, count: int) -> None:
        mx.random.seed(0)
        self.rows = mx.random.randint(1, 60, (count, LENGTH)).tolist()

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[list[int], int]:
        return self.rows[index], 0


class Hook(TrainingCallback):  # type: ignore[misc]
    """Keeps what is printed, and leaves out evaluations."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.loss = clock, 0.0

    def on_train_loss_report(self, info: dict) -> None:  # type: ignore[type-arg]
        self.loss = info["train_loss"]

    def on_val_loss_report(self, info: dict) -> None:  # type: ignore[type-arg]
        del info
        self.clock.begin()


def train(setup: str) -> None:
    # What it counts as tokens are those that have one after them.
    clock = Clock(pace=0.05, batch=BATCH, tokens=BATCH * LENGTH, interval=INTERVAL)
    inner = trainer._clear_cache  # noqa: SLF001

    def stepped(threshold: int) -> None:
        inner(threshold)
        if sys._getframe(1).f_code.co_name == "train":  # noqa: SLF001  # and not in an evaluation
            clock.step()

    trainer._clear_cache = stepped  # noqa: SLF001
    model = Model(
        ModelArgs(
            model_type="llama",
            hidden_size=16,
            num_hidden_layers=1,
            intermediate_size=32,
            num_attention_heads=2,
            rms_norm_eps=1e-5,
            vocab_size=64,
        )
    )
    hook = Hook(clock)
    settings = trainer.TrainingArgs(
        batch_size=BATCH, iters=STEPS, val_batches=4, steps_per_report=INTERVAL, steps_per_eval=50, max_seq_length=64
    )
    valid = Rows(32) if "validation" in setup else None
    mx.set_default_device(mx.cpu)
    clock.begin()
    trainer.train(model, optim.Adam(learning_rate=1e-3), Rows(400), valid, settings, training_callback=hook)
    clock.finish(step=STEPS, loss=hook.loss)


if __name__ == "__main__":
    train(sys.argv[1])
