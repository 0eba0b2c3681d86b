"""TensorFlow's estimators: loss and rate in lines of their own, with evaluations and checkpoints between."""

import logging
import sys

import numpy as np
import tensorflow as tf
from clock import Clock

SETUPS = ("every_20", "every_25_evaluation")
BATCH, STEPS = 16, 300


class Hook(tf.estimator.SessionRunHook):  # type: ignore[misc]
    """Clocks steps, and keeps the loss of each."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def after_create_session(self, session: object, coord: object) -> None:
        del session, coord
        self.clock.begin()

    def before_run(self, run_context: object) -> object:
        del run_context
        return tf.compat.v1.train.SessionRunArgs(tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.LOSSES))

    def after_run(self, run_context: object, run_values: object) -> None:
        del run_context
        self.clock.step(run_values.results[0])  # type: ignore[attr-defined]


def train(setup: str) -> None:
    logging.getLogger("tensorflow").setLevel(logging.INFO)
    interval = 20 if setup == "every_20" else 25
    random = np.random.default_rng(0)
    points = random.normal(size=(512, 8)).astype("float32")
    labels = (points[:, 0] > 0).astype("int32")

    def batches(repeat: bool = True) -> tf.data.Dataset:
        made = tf.data.Dataset.from_tensor_slices(({"points": points}, labels))
        return (made.repeat() if repeat else made).batch(BATCH)

    clock = Clock(pace=0.05, batch=BATCH, interval=interval)
    column = tf.feature_column.numeric_column("points", shape=(8,))
    settings = tf.estimator.RunConfig(log_step_count_steps=interval, save_checkpoints_steps=100, tf_random_seed=0)
    model = tf.estimator.DNNClassifier([16], [column], "out", config=settings)
    hook = Hook(clock)
    if "evaluation" in setup:
        tf.estimator.train_and_evaluate(
            model,
            tf.estimator.TrainSpec(batches, max_steps=STEPS, hooks=[hook]),
            tf.estimator.EvalSpec(lambda: batches(repeat=False), steps=10, throttle_secs=0, start_delay_secs=0),
        )
    else:
        model.train(batches, max_steps=STEPS, hooks=[hook])
    # It counts from zero; its last line tells the loss of the last step, the last report that of an earlier one.
    last = (STEPS - 1) // interval * interval
    clock.finish(step=[last, STEPS], loss=[clock.losses[-1], clock.losses[last]])


if __name__ == "__main__":
    train(sys.argv[1])
