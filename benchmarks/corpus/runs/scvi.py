"""scvi-tools: its bar of epochs, which numbers them in its head and tells the losses in its end."""

import sys

import anndata
import numpy as np
import scvi
import torch
from clock import Clock
from clock_torch import clock_optimizers

SETUPS = ("bar", "bar_validation")
BATCH, CELLS, EPOCHS = 64, 640, 30


def train(setup: str) -> None:
    torch.set_num_threads(1)
    scvi.settings.seed = 0
    random = np.random.default_rng(0)
    cells = anndata.AnnData(random.poisson(1.0, size=(CELLS, 40)).astype("float32"))
    scvi.model.SCVI.setup_anndata(cells)
    model = scvi.model.SCVI(cells, n_hidden=16, n_latent=4)
    clock = Clock(pace=0.04, batch=BATCH)
    clock_optimizers(clock)
    check = setup == "bar_validation"
    clock.begin()
    model.train(
        max_epochs=EPOCHS,
        batch_size=BATCH,
        accelerator="cpu",
        train_size=0.9 if check else 1.0,
        check_val_every_n_epoch=5 if check else None,
        enable_progress_bar=True,
    )
    batches = clock.steps // EPOCHS
    clock.interval = batches
    told = [
        float(model.history[name].iloc[-1].iloc[0])
        for name in ("train_loss_epoch", "train_loss_step", "train_loss")
        if name in model.history
    ]
    # The bar counts epochs, and says so in its head.
    clock.finish(step=EPOCHS, loss=told, speed=False, unsaid=["step"], larger=[batches])


if __name__ == "__main__":
    train(sys.argv[1])
