"""CLU on JAX: its writer's lines of metrics in order of their names, and its notes of progress."""

import sys

import jax
import jax.numpy as jnp
import optax
from absl import logging
from clock import Clock
from clu import metric_writers, periodic_actions

SETUPS = ("writer_and_progress", "writer_evaluation")
BATCH, STEPS, INTERVAL = 32, 300, 20


def train(setup: str) -> None:
    logging.set_verbosity(logging.INFO)
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    points = jax.random.normal(keys[0], (BATCH * 8, 16))
    labels = (points[:, 0] > 0).astype(jnp.float32)
    weights = {"first": jax.random.normal(keys[1], (16, 16)) / 4, "second": jax.random.normal(keys[2], (16,)) / 4}
    optimizer = optax.adam(3e-3)
    state = optimizer.init(weights)

    @jax.jit
    def update(weights: dict, state: object, points: jax.Array, labels: jax.Array) -> tuple:  # type: ignore[type-arg]
        def cost(weights: dict) -> jax.Array:  # type: ignore[type-arg]
            found = jax.nn.relu(points @ weights["first"]) @ weights["second"]
            return optax.sigmoid_binary_cross_entropy(found, labels).mean()

        loss, gradient = jax.value_and_grad(cost)(weights)
        change, state = optimizer.update(gradient, state)
        return optax.apply_updates(weights, change), state, loss

    update(weights, state, points[:BATCH], labels[:BATCH])
    clock = Clock(pace=0.05, batch=BATCH, interval=INTERVAL)
    writer = metric_writers.create_default_writer(just_logging=True)
    progress = periodic_actions.ReportProgress(
        num_train_steps=STEPS, writer=writer, every_steps=INTERVAL, every_secs=None
    )
    clock.begin()
    for step in range(1, STEPS + 1):
        at = step % 8 * BATCH
        weights, state, loss = update(weights, state, points[at : at + BATCH], labels[at : at + BATCH])
        clock.step(float(loss))
        if setup == "writer_and_progress":
            progress(step)
        if step % INTERVAL == 0:
            writer.write_scalars(
                step, {"train_loss": float(loss), "learning_rate": 3e-3, "gradient_norm": 0.5 + 1 / step}
            )
        if setup == "writer_evaluation" and step % 100 == 0:
            writer.write_scalars(step, {"eval_loss": float(loss) * 1.1, "eval_accuracy": 0.9})
            clock.begin()
    writer.flush()
    clock.finish(step=STEPS, loss=clock.losses[-1], speed=setup == "writer_and_progress")


if __name__ == "__main__":
    train(sys.argv[1])
