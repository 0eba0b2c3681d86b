"""PaddlePaddle: its high-level fit, line by line and redrawn, and a loop of its own."""

import sys

import numpy as np
import paddle
from clock import Clock

SETUPS = {"fit_lines": {"interval": 10}, "fit_bar": {}, "loop_batch_cost": {"interval": 10}}
BATCH, BATCHES, EPOCHS = 16, 40, 3


class Hook(paddle.callbacks.Callback):
    """Clocks batches."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.loss = 0.0

    def on_epoch_begin(self, epoch: int | None = None, logs: object = None) -> None:
        del epoch, logs
        self.clock.begin()

    def on_train_batch_end(self, step: int, logs: dict | None = None) -> None:  # type: ignore[type-arg]
        del step
        self.loss = float(np.ravel((logs or {})["loss"])[0])
        self.clock.step(self.loss)


def _network() -> paddle.nn.Layer:
    paddle.seed(0)
    return paddle.nn.Sequential(paddle.nn.Linear(16, 32), paddle.nn.ReLU(), paddle.nn.Linear(32, 2))


def train(setup: str) -> None:
    clock = Clock(pace=0.06, batch=BATCH, **SETUPS[setup])
    random = np.random.default_rng(0)
    points = random.normal(size=(BATCH * BATCHES, 16)).astype("float32")
    labels = (points[:, 0] * points[:, 1] > 0).astype("int64")[:, None]
    if setup == "loop_batch_cost":
        loop(clock, points, labels)
        return
    model = paddle.Model(_network())
    model.prepare(
        paddle.optimizer.Adam(0.003, parameters=model.parameters()),
        paddle.nn.CrossEntropyLoss(),
        paddle.metric.Accuracy(),
    )
    data = paddle.io.TensorDataset([paddle.to_tensor(points), paddle.to_tensor(labels)])
    hook = Hook(clock)
    model.fit(
        data,
        batch_size=BATCH,
        epochs=EPOCHS,
        verbose=2 if setup == "fit_lines" else 1,
        log_freq=clock.interval,
        callbacks=[hook],
        shuffle=False,
    )
    clock.finish(step=[BATCHES, clock.steps], loss=hook.loss)


def loop(clock: Clock, points: np.ndarray, labels: np.ndarray) -> None:
    import time  # noqa: PLC0415

    network = _network()
    optimiser = paddle.optimizer.Adam(0.003, parameters=network.parameters())
    clock.begin()
    since, last = time.time(), (0, 0.0)
    for epoch in range(EPOCHS):
        for index in range(BATCHES):
            part = slice(index * BATCH, (index + 1) * BATCH)
            loss = paddle.nn.functional.cross_entropy(
                network(paddle.to_tensor(points[part])), paddle.to_tensor(labels[part])
            )
            loss.backward()
            optimiser.step()
            optimiser.clear_grad()
            clock.step(float(loss))
            if (index + 1) % clock.interval == 0:
                cost = (time.time() - since) / clock.interval
                since, last = time.time(), (index + 1, float(loss))
                left = int(cost * (BATCHES * EPOCHS - clock.steps))
                print(
                    f"[TRAIN] epoch: {epoch + 1}/{EPOCHS}, iter: {index + 1}/{BATCHES}, loss: {float(loss):.4f}, lr: 0.003000, "
                    f"batch_cost: {cost:.4f}, reader_cost: 0.00021, ips: {BATCH / cost:.4f} samples/sec | ETA 00:00:{left:02d}",
                    flush=True,
                )
    clock.finish(step=[last[0], clock.steps], loss=last[1])


if __name__ == "__main__":
    train(sys.argv[1])
