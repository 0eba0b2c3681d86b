"""DeepSpeed on CPU: its engine's own report of steps and its throughput timer, beside the prints of a loop."""

import logging
import os
import sys

import torch
import toy
from clock import Clock

SETUPS = ("engine_report", "wall_clock_breakdown", "loop_prints")
BATCH, STEPS, INTERVAL = 16, 100, 10

os.environ |= {
    "DS_ACCELERATOR": "cpu",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29631",
    "RANK": "0",
    "LOCAL_RANK": "0",
    "WORLD_SIZE": "1",
}


def train(setup: str) -> None:
    import deepspeed  # noqa: PLC0415

    clock = Clock(pace=0.06, batch=BATCH, interval=INTERVAL)
    log = logging.getLogger("DeepSpeed")
    for each in (log, *log.handlers):
        each.setLevel(logging.WARNING if setup == "loop_prints" else logging.INFO)
    torch.distributed.init_process_group("gloo")
    config = {
        "train_batch_size": BATCH,
        "steps_per_print": INTERVAL if setup != "loop_prints" else 10000,
        "optimizer": {"type": "Adam", "params": {"lr": 1e-3, "torch_adam": True}},
        "wall_clock_breakdown": setup == "wall_clock_breakdown",
        "zero_optimization": {"stage": 0},
    }
    model = toy.model()
    engine, *_ = deepspeed.initialize(
        model=model, model_parameters=model.parameters(), config=config, dist_init_required=False
    )
    loader = toy.loader(BATCH * STEPS, BATCH)
    clock.begin()
    last = None
    for points, labels in loader:
        loss = torch.nn.functional.cross_entropy(engine(points), labels)
        engine.backward(loss)
        clock.step(loss.item())
        engine.step()
        if setup == "loop_prints" and clock.steps % INTERVAL == 0:
            last = loss.item()
            print(f"Step: {clock.steps} | Loss: {last:.4f} | {clock.durations[-1] * 1000:.2f} ms", flush=True)
    clock.finish(step=STEPS, loss=last, speed=True)


if __name__ == "__main__":
    train(sys.argv[1])
