"""A real training with Keras: a small network on random numbers, one bar an epoch. `EPOCHS` is their number."""

import os

import keras
import numpy as np


def model(width: int = 8) -> keras.Model:
    """Return a small compiled network."""
    net = keras.Sequential([keras.Input((width,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1)])
    net.compile("sgd", "mse")
    return net


def data(width: int = 8, rows: int = 96) -> tuple[np.ndarray, np.ndarray]:
    """Return random inputs of shape (rows, width) and targets of shape (rows, 1)."""
    inputs = np.random.default_rng(1).normal(size=(rows, width)).astype("float32")
    return inputs, inputs.sum(1, keepdims=True)


if __name__ == "__main__":
    model().fit(*data(), epochs=int(os.environ.get("EPOCHS", "5")), verbose=2)
