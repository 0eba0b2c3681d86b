"""A job of Ray: N actors of one GPU each. What they do: fail at the first attempt, wait, avoid the nodes that are excluded."""

import os
import sys
import time

import ray

number, how = int(sys.argv[1]), sys.argv[2]
avoided = os.environ.get("SCHEDMATE_EXCLUDED_NODES", "")
selector = {"ray.io/node-id": f"!in({avoided})"} if avoided and how == "avoid" else {}
ray.init()


@ray.remote(num_gpus=1, label_selector=selector)
class Worker:
    def step(self, step: int) -> str:
        print(f"step {step} | loss {2.0 / step:.3f}", flush=True)
        return ray.get_runtime_context().get_node_id()


workers = [Worker.remote() for _ in range(number)]
print(ray.get([worker.step.remote(1) for worker in workers]), flush=True)
if how != "sleep" and "SCHEDMATE_ATTEMPT" not in os.environ:
    sys.exit(3)
time.sleep(600)
