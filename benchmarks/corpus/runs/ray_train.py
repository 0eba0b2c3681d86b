"""Ray Train: workers that print and report, seen through the driver's output."""

import os
import sys
import tempfile
import time

import ray
import torch
import toy
from clock import Clock
from ray import train as ray_train
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer

SETUPS = {"one_worker": 1, "two_workers": 2}
BATCH, STEPS, INTERVAL = 16, 120, 5


def work(config: dict) -> None:  # type: ignore[type-arg]
    rank, world = ray_train.get_context().get_world_rank(), ray_train.get_context().get_world_size()
    os.environ |= {"CORPUS_TRUTH": config["truth"], "RANK": str(rank)}
    clock = Clock(pace=0.06, batch=BATCH * world, interval=INTERVAL)
    model = ray_train.torch.prepare_model(toy.model())
    optimiser = torch.optim.Adam(model.parameters())
    clock.begin()
    since = time.time()
    for points, labels in toy.loader(BATCH * STEPS, BATCH):
        loss = torch.nn.functional.cross_entropy(model(points), labels)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        clock.step(loss.item())
        if clock.steps % INTERVAL == 0:
            seconds, since = (time.time() - since) / INTERVAL, time.time()
            print(f"step={clock.steps} loss={loss.item():.4f} sec/step={seconds:.4f}", flush=True)
        if clock.steps % 40 == 0:  # which takes a second or two, and is no step
            ray_train.report({"loss": loss.item(), "step": clock.steps})
            since = time.time()
            clock.begin()
    clock.finish(step=STEPS, loss=loss.item())


def run(setup: str) -> None:
    workers = SETUPS[setup]
    with tempfile.TemporaryDirectory() as folder:
        ray.init(
            num_cpus=4,
            include_dashboard=False,
            configure_logging=True,
            runtime_env={"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"], "OMP_NUM_THREADS": "1"}},
        )
        trainer = TorchTrainer(
            work,
            train_loop_config={"truth": os.environ["CORPUS_TRUTH"]},
            scaling_config=ScalingConfig(num_workers=workers, use_gpu=False),
            run_config=RunConfig(storage_path=folder, name="toy"),
        )
        trainer.fit()
        ray.shutdown()


if __name__ == "__main__":
    run(sys.argv[1])
