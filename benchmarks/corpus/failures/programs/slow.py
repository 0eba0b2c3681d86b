"""The loop of `loop.py`, ten steps a second."""

import time

from loop import train

for _ in train():
    time.sleep(0.1)
