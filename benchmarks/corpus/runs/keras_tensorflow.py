"""Keras on TensorFlow: its bars and its lines."""

import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"

import toy_keras

if __name__ == "__main__":
    toy_keras.train(sys.argv[1])
