"""DeepXDE: its table of steps, with a list of losses in each cell, and a test's metric."""

import os
import sys

os.environ["DDE_BACKEND"] = "pytorch"

import deepxde
import numpy as np
from clock import Clock

SETUPS = ("function_metric", "equation_every_50")


class Hook(deepxde.callbacks.Callback):  # type: ignore[misc]
    """Clocks steps."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def on_batch_end(self) -> None:
        self.clock.step()


def function() -> tuple[object, list[str]]:
    """Return samples of a function to fit."""

    def curve(points: np.ndarray) -> np.ndarray:
        return points * np.sin(5 * points)

    return deepxde.data.Function(deepxde.geometry.Interval(-1, 1), curve, 16, 100), ["l2 relative error"]


def equation() -> tuple[object, list[str]]:
    """Return a Poisson equation with its boundary."""
    interval = deepxde.geometry.Interval(-1, 1)

    def residual(points: object, found: object) -> object:
        return deepxde.grad.hessian(found, points) - 2

    edge = deepxde.icbc.DirichletBC(interval, lambda _: 0, lambda _, on: on)
    return deepxde.data.PDE(interval, residual, edge, 16, 2), []


def train(setup: str) -> None:
    every = 20 if setup == "function_metric" else 50
    steps = 25 * every
    clock = Clock(pace=0.03 if every == 20 else 0.02, interval=every)
    deepxde.config.set_random_seed(0)
    data, metrics = function() if setup == "function_metric" else equation()
    model = deepxde.Model(data, deepxde.nn.FNN([1, 16, 16, 1], "tanh", "Glorot uniform"))
    model.compile("adam", lr=0.001, metrics=metrics)
    clock.begin()
    history, _ = model.train(iterations=steps, display_every=every, callbacks=[Hook(clock)])
    losses = [float(each) for each in history.loss_train[-1]]
    # Of several losses none is *the* loss: their sum is what is made smaller.
    clock.finish(step=steps, loss=[*losses, sum(losses)], speed=False, unsaid=["loss"] if len(losses) > 1 else [])


if __name__ == "__main__":
    train(sys.argv[1])
