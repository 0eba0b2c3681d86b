"""The loop of `loop.py` as two tasks of a Slurm step: task 1 raises."""

import os
import time

from loop import train

for step in train():
    time.sleep(0.05)
    if step == 5016 and os.environ.get("SLURM_PROCID") == "1":
        raise ValueError("shard 1 holds no samples")
