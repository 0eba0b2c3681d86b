"""OpenCLIP: its log of samples, times, rates and losses with means in brackets, by its own training program on made-up images."""

import json
import logging
import sys
from pathlib import Path

import open_clip
import torch
from clock import Clock
from clock_torch import clock_optimizers
from open_clip_train import main as program
from open_clip_train import train as loop

SETUPS = ("every_10", "every_5_accumulation")
BATCH, BATCHES, EPOCHS = 8, 60, 2
MODEL = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 16},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
}


def train(setup: str) -> None:
    torch.set_num_threads(1)
    micro = 2 if "accumulation" in setup else 1
    interval = 5 if "every_5" in setup else 10
    clock = Clock(pace=0.08 * micro, batch=BATCH * micro, interval=interval)
    Path("models").mkdir()
    Path("models/tiny.json").write_text(json.dumps(MODEL))
    open_clip.add_model_config(Path("models"))
    clock_optimizers(clock)
    inner = program.train_one_epoch

    def begun(*arguments: object, **named: object) -> None:
        clock.begin()
        inner(*arguments, **named)

    program.train_one_epoch = begun
    losses: list[float] = []

    class Noted(loop.AverageMeter):  # type: ignore[misc]
        """Keeps what each report prints of the loss: it is the last meter that is updated before one."""

        def update(self, value: float, count: int = 1) -> None:
            super().update(value, count)
            losses[:] = [self.val, self.avg]

    meters = iter(range(1_000_000))
    plain = loop.AverageMeter
    # The first two meters of an epoch are of times, the others of losses.
    loop.AverageMeter = lambda: Noted() if next(meters) % 4 > 1 else plain()
    logging.getLogger("PIL").setLevel(logging.WARNING)
    program.main(
        [
            *("--dataset-type", "synthetic", "--train-num-samples", str(BATCH * BATCHES)),
            *("--model", "tiny", "--batch-size", str(BATCH), "--epochs", str(EPOCHS), "--workers", "0"),
            *("--accum-freq", str(micro), "--log-every-n-steps", str(interval), "--device", "cpu"),
            *("--precision", "fp32", "--warmup", "10", "--logs", "out", "--name", "run"),
        ]
    )
    # It counts samples, and no steps.
    batches = BATCHES // micro
    clock.finish(step=[batches, batches * EPOCHS], loss=losses, unsaid=["step"])


if __name__ == "__main__":
    train(sys.argv[1])
