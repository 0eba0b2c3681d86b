"""A real distributed training loop: a small network in DistributedDataParallel over Gloo, one report a step by rank 0.

Environment variables: `START` is the first step (a resumed run), `STEPS` the number of steps. Run it with torchrun.
"""

import os
import time
from collections.abc import Iterator
from datetime import timedelta

import torch
import torch.distributed as dist

TOTAL = 20_000


class Job:
    """What a step may touch: the ranks, the model (wrapped), its optimizer and the number of the step to come."""

    def __init__(self, timeout_s: float) -> None:
        # A restarted group would find the addresses of the one before it in the launcher's store: it gets a store of its own.
        if restarts := int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")):
            port = int(os.environ["MASTER_PORT"]) + restarts
            os.environ |= {"TORCHELASTIC_USE_AGENT_STORE": "False", "MASTER_PORT": str(port)}
        dist.init_process_group("gloo", timeout=timedelta(seconds=timeout_s))
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(3)
        net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
        self.net = net
        self.model = torch.nn.parallel.DistributedDataParallel(net)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.step = 0
        self.batch = torch.randn(64, 32)


def train(timeout_s: float = 8) -> Iterator[Job]:
    """Yield the job before each step; a fault raised by the caller on one rank leaves the others in their all-reduce."""
    job = Job(timeout_s)
    start, steps = int(os.environ.get("START", "5000")), int(os.environ.get("STEPS", "24"))
    if job.rank == 0:
        print(f"training on {job.world} ranks, resumed at step {start}", flush=True)
    for job.step in range(start + 1, start + steps + 1):
        begun = time.perf_counter()
        yield job
        loss = (job.model(job.batch) - job.batch.sum(1, keepdim=True)).pow(2).mean()
        job.optimizer.zero_grad()
        loss.backward()
        job.optimizer.step()
        if job.rank == 0:
            taken = time.perf_counter() - begun
            report = f"loss: {loss.item():.5f} | time: {taken * 1e3:.2f} ms | {64 * job.world / taken:.0f} samples/s"
            print(f"[rank0] step {job.step}/{TOTAL} | {report}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    for _ in train():
        pass
