"""DeepCTR-Torch: an epoch's bar without an end, and two lines an epoch that look like an old Keras."""

import sys

import numpy as np
import torch
from clock import Clock
from clock_torch import clock_optimizers
from deepctr_torch.inputs import DenseFeat, SparseFeat, get_feature_names
from deepctr_torch.models import DeepFM

SETUPS = ("bars", "lines_validation")
BATCH, BATCHES = 32, 50


def train(setup: str) -> None:
    torch.set_num_threads(1)
    random = np.random.default_rng(0)
    samples = BATCH * BATCHES
    columns = [SparseFeat("user", 30, embedding_dim=4), SparseFeat("item", 40, embedding_dim=4), DenseFeat("age", 1)]
    data = {
        "user": random.integers(0, 30, samples),
        "item": random.integers(0, 40, samples),
        "age": random.normal(size=samples).astype("float32"),
    }
    labels = (data["age"] + random.normal(size=samples) > 0).astype("float32")
    assert get_feature_names(columns)
    clock = Clock(pace=0.05, batch=BATCH, interval=1 if setup == "bars" else BATCHES)
    clock_optimizers(clock)
    model = DeepFM(columns, columns, dnn_hidden_units=(16, 8), device="cpu", seed=0)
    model.compile("adam", "binary_crossentropy", metrics=["auc" if setup != "bars" else "binary_crossentropy"])
    epochs = 4 if setup == "bars" else 8
    clock.begin()
    told = model.fit(
        data,
        labels,
        batch_size=BATCH,
        epochs=epochs,
        verbose=1 if setup == "bars" else 2,
        validation_split=0.0 if setup == "bars" else 0.2,
    )
    steps = clock.steps // epochs
    # Without bars, the number of steps stands in a line at the start, and whole seconds an epoch in each report.
    clock.finish(
        step=[steps, clock.steps],
        loss=told.history["loss"][-1],
        speed=setup == "bars",
        unsaid=[] if setup == "bars" else ["step"],
    )


if __name__ == "__main__":
    train(sys.argv[1])
