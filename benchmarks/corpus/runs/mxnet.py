"""MXNet: the module's fit with its Speedometer, and a loop over Gluon in the manner of GluonCV's scripts."""

import logging
import sys
import time

import mxnet
import numpy as np
from clock import Clock

SETUPS = ("speedometer", "gluon_loop")
BATCH, BATCHES, EPOCHS, INTERVAL = 16, 50, 4, 10


def train(setup: str) -> None:
    logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
    mxnet.random.seed(0)
    random = np.random.default_rng(0)
    points = random.normal(size=(BATCH * BATCHES, 16)).astype("float32")
    labels = (points[:, 0] * points[:, 1] > 0).astype("float32")
    clock = Clock(pace=0.05, batch=BATCH, interval=INTERVAL)
    (speedometer if setup == "speedometer" else gluon)(clock, points, labels)


def speedometer(clock: Clock, points: np.ndarray, labels: np.ndarray) -> None:
    data = mxnet.io.NDArrayIter(points, labels, BATCH, label_name="softmax_label")
    hidden = mxnet.sym.Activation(mxnet.sym.FullyConnected(mxnet.sym.var("data"), num_hidden=32), act_type="relu")
    output = mxnet.sym.SoftmaxOutput(mxnet.sym.FullyConnected(hidden, num_hidden=2), name="softmax")
    told = []

    def hook(batch: object) -> None:
        if batch.nbatch == 0:  # type: ignore[attr-defined]
            clock.begin()
        clock.step()
        if batch.nbatch and batch.nbatch % INTERVAL == 0:  # type: ignore[attr-defined]
            told[:] = [batch.nbatch, batch.epoch * BATCHES + batch.nbatch]  # type: ignore[attr-defined]

    losses = []

    def noted(batch: object) -> None:
        if batch.nbatch and batch.nbatch % INTERVAL == 0:  # type: ignore[attr-defined]
            losses[:] = [dict(batch.eval_metric.get_name_value())["cross-entropy"]]  # type: ignore[attr-defined]

    mxnet.mod.Module(output).fit(
        data,
        num_epoch=EPOCHS,
        eval_metric=mxnet.metric.CrossEntropy(),
        batch_end_callback=[hook, noted, mxnet.callback.Speedometer(BATCH, INTERVAL)],
    )
    clock.finish(step=told, loss=losses)


def gluon(clock: Clock, points: np.ndarray, labels: np.ndarray) -> None:
    network = mxnet.gluon.nn.HybridSequential()
    network.add(mxnet.gluon.nn.Dense(32, activation="relu"), mxnet.gluon.nn.Dense(2))
    network.initialize()
    trainer = mxnet.gluon.Trainer(network.collect_params(), "adam", {"learning_rate": 0.003})
    measure = mxnet.gluon.loss.SoftmaxCrossEntropyLoss()
    log = logging.getLogger()
    last = (0, 0.0)
    for epoch in range(EPOCHS):
        clock.begin()
        since = time.time()
        for index in range(BATCHES):
            part = slice(index * BATCH, (index + 1) * BATCH)
            with mxnet.autograd.record():
                loss = measure(network(mxnet.nd.array(points[part])), mxnet.nd.array(labels[part]))
            loss.backward()
            trainer.step(BATCH)
            value = float(loss.mean().asscalar())
            clock.step(value)
            if (index + 1) % INTERVAL == 0:
                rate = BATCH * INTERVAL / (time.time() - since)
                since, last = time.time(), (index, value)
                log.info(
                    "Epoch[%d] Batch [%d]\tSpeed: %f samples/sec\tloss=%f\tlr=%f", epoch, index, rate, value, 0.003
                )
        log.info("[Epoch %d] training: accuracy=%f", epoch, 0.7)
        log.info("[Epoch %d] validation: err-top1=%f err-top5=%f", epoch, 0.3, 0.1)
    clock.finish(step=[last[0], last[0] + 1, clock.steps, clock.steps - 1], loss=last[1])


if __name__ == "__main__":
    train(sys.argv[1])
