"""MindSpore: its monitors of loss and of time."""

import sys

import mindspore
import numpy as np
from clock import Clock
from mindspore import nn
from mindspore.train import Callback, LossMonitor, Model, TimeMonitor

SETUPS = {"loss_and_time": 1, "every_10": 10}
BATCH, BATCHES, EPOCHS = 16, 40, 3


class Hook(Callback):
    """Clocks steps."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def on_train_epoch_begin(self, run_context: object) -> None:
        del run_context
        self.clock.begin()

    def on_train_step_end(self, run_context: object) -> None:
        self.clock.step(float(np.mean(run_context.original_args().net_outputs.asnumpy())))  # type: ignore[attr-defined]


def train(setup: str) -> None:
    clock = Clock(pace=0.06, batch=BATCH, interval=SETUPS[setup])
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE, device_target="CPU")
    random = np.random.default_rng(0)
    points = random.normal(size=(BATCH * BATCHES, 16)).astype("float32")
    labels = (points[:, 0] * points[:, 1] > 0).astype("int32")
    data = mindspore.dataset.NumpySlicesDataset((points, labels), ["data", "label"], shuffle=False).batch(BATCH)
    network = nn.SequentialCell(nn.Dense(16, 32), nn.ReLU(), nn.Dense(32, 2))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(network, loss, nn.Adam(network.trainable_params(), 0.003))
    model.train(
        EPOCHS, data, callbacks=[Hook(clock), LossMonitor(SETUPS[setup]), TimeMonitor()], dataset_sink_mode=False
    )
    clock.finish(step=[BATCHES, clock.steps], loss=clock.losses[-1])


if __name__ == "__main__":
    train(sys.argv[1])
