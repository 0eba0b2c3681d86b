"""TF-Slim: its training loop's line of a global step, a loss and seconds a step."""

import logging
import sys

import numpy as np
import tensorflow.compat.v1 as tf
import tf_slim as slim
from clock import Clock

SETUPS = ("every_10", "every_step")
STEPS = 240


def train(setup: str) -> None:
    tf.disable_eager_execution()
    logging.getLogger("tensorflow").setLevel(logging.INFO)
    interval = 10 if setup == "every_10" else 1
    random = np.random.default_rng(0)
    points = random.normal(size=(64, 8)).astype("float32")
    labels = (points[:, :1] > 0).astype("float32")
    tf.set_random_seed(0)
    clock = Clock(pace=0.05, batch=64, interval=interval)
    loss = tf.losses.sigmoid_cross_entropy(labels, slim.fully_connected(slim.fully_connected(points, 16), 1, None))
    trained = slim.learning.create_train_op(loss, tf.train.AdamOptimizer(0.003))

    def clocked(value: np.ndarray) -> np.ndarray:
        clock.step(float(value))
        return value

    program = tf.numpy_function(clocked, [trained], tf.float32)
    slim.learning.train(
        program,
        "out",
        number_of_steps=STEPS,
        log_every_n_steps=interval,
        save_interval_secs=1000,
        save_summaries_secs=1000,
    )
    # It reads the step before or after its update.
    clock.finish(step=[STEPS - 1, STEPS], loss=clock.losses[STEPS // interval * interval - 1])


if __name__ == "__main__":
    train(sys.argv[1])
