"""pytorch-widedeep: bars of epochs whose ends tell the loss and a dictionary of metrics."""

import sys

import numpy as np
import torch
from clock import Clock
from clock_torch import clock_optimizers
from pytorch_widedeep import Trainer
from pytorch_widedeep.metrics import Accuracy
from pytorch_widedeep.models import TabMlp, WideDeep

SETUPS = ("bars", "bars_validation")
BATCH, BATCHES, EPOCHS = 32, 40, 4


def train(setup: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    samples = BATCH * BATCHES
    points = random.normal(size=(samples, 4)).astype("float32")
    labels = (points[:, 0] + 0.5 * random.normal(size=samples) > 0).astype("int64")
    columns = {f"c{each}": each for each in range(4)}
    deep = TabMlp(column_idx=columns, continuous_cols=list(columns), mlp_hidden_dims=[16, 8])
    clock = Clock(pace=0.08, batch=BATCH)
    clock_optimizers(clock)
    trainer = Trainer(WideDeep(deeptabular=deep), objective="binary", metrics=[Accuracy], verbose=1, num_workers=0)
    begun = trainer._train_epoch  # noqa: SLF001

    def epoch(*arguments: object) -> object:
        clock.begin()
        return begun(*arguments)

    trainer._train_epoch = epoch  # noqa: SLF001
    check = {"X_val": {"X_tab": points[:320], "target": labels[:320]}} if "validation" in setup else {}
    data = {"X_train": {"X_tab": points, "target": labels}}
    trainer.fit(**data, **check, n_epochs=EPOCHS, batch_size=BATCH)
    clock.finish(step=[BATCHES, clock.steps], loss=trainer.history["train_loss"][-1])


if __name__ == "__main__":
    train(sys.argv[1])
