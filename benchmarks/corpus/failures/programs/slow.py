"""The loop of `loop.py`, ten steps a second; `GROW` bytes are kept at every step."""

import os
import time

from loop import train

kept = []
for _ in train():
    kept.append(os.urandom(1) * int(os.environ.get("GROW", "0")))
    time.sleep(0.1)
