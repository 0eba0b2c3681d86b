"""A loop with JAX, Flax and Optax, in the manner of their examples: absl's log, and prints of metrics."""

import logging
import sys
import time

import jax
import numpy as np
import optax
from clock import Clock
from flax import linen

SETUPS = {
    "absl_log": {"interval": 10},
    "metrics_dict": {"interval": 10, "slow_start": 2.0},
    "epoch_summary": {"interval": 40},
}
BATCH, BATCHES, EPOCHS = 16, 40, 4


class Perceptron(linen.Module):
    """The classifier."""

    @linen.compact
    def __call__(self, points: jax.Array) -> jax.Array:
        return linen.Dense(2)(linen.relu(linen.Dense(32)(points)))


def train(setup: str) -> None:
    from absl import logging as absl_logging  # noqa: PLC0415

    absl_logging.use_absl_handler()
    absl_logging.set_verbosity(absl_logging.INFO)
    absl_logging.set_stderrthreshold("info")
    clock = Clock(pace=0.05, batch=BATCH, **SETUPS[setup])
    random = np.random.default_rng(0)
    points = random.normal(size=(BATCHES, BATCH, 16)).astype("float32")
    labels = (points[..., 0] * points[..., 1] > 0).astype("int32")
    model, optimiser = Perceptron(), optax.adam(3e-3)
    weights = model.init(jax.random.key(0), points[0])
    state = optimiser.init(weights)

    @jax.jit
    def step(weights: object, state: object, points: jax.Array, labels: jax.Array) -> tuple[object, object, jax.Array]:
        def loss(weights: object) -> jax.Array:
            return optax.softmax_cross_entropy_with_integer_labels(model.apply(weights, points), labels).mean()

        value, slope = jax.value_and_grad(loss)(weights)
        change, state = optimiser.update(slope, state)
        return optax.apply_updates(weights, change), state, value

    step(weights, state, points[0], labels[0])
    clock.begin()
    told, since = [0.0], time.time()
    for epoch in range(EPOCHS):
        losses = []
        began = time.time()
        for index in range(BATCHES):
            weights, state, value = step(weights, state, points[index], labels[index])
            losses.append(float(value))
            clock.step(losses[-1])
            if clock.steps % clock.interval == 0:
                rate = clock.interval / (time.time() - since)
                since = time.time()
                told = [losses[-1]]
                if setup == "absl_log":
                    absl_logging.info("[%d] loss=%.5f, steps_per_sec=%.3f", clock.steps, losses[-1], rate)
                elif setup == "metrics_dict":
                    metrics = {
                        "train_loss": round(losses[-1], 5),
                        "learning_rate": 0.003,
                        "step": clock.steps,
                        "examples_per_second": round(rate * BATCH, 2),
                    }
                    print(metrics, flush=True)
        if setup == "epoch_summary":
            mean = float(np.mean(losses))
            told = [mean]
            absl_logging.info(
                "epoch:% 3d, train_loss: %.4f, train_accuracy: %.2f, step: %d, took %.2f sec",
                epoch + 1,
                mean,
                81.3,
                clock.steps,
                time.time() - began,
            )
    logging.shutdown()
    clock.finish(step=clock.steps, loss=told)


if __name__ == "__main__":
    train(sys.argv[1])
