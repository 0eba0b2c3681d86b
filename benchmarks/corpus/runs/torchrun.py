"""Distributed data parallel over gloo, started by torchrun, every rank or only the first one printing."""

import logging
import sys
import time

import torch
import toy
from clock import Clock
from torch import distributed

SETUPS = ("first_of_2", "all_2", "all_4_tokens")
BATCH, BATCHES, EPOCHS, INTERVAL, SEQUENCE = 8, 40, 3, 5, 128


def train(setup: str) -> None:
    distributed.init_process_group("gloo")
    rank, world = distributed.get_rank(), distributed.get_world_size()
    tokens = BATCH * SEQUENCE * world if setup == "all_4_tokens" else 0
    clock = Clock(pace=0.06, batch=BATCH * world, tokens=tokens, world=world, interval=INTERVAL, slow_start=1.0)
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format=f"[rank{rank}]: %(asctime)s %(levelname)s %(message)s"
    )
    model = torch.nn.parallel.DistributedDataParallel(toy.model())
    optimiser = torch.optim.AdamW(model.parameters())
    if rank == 0:
        print(f"world size {world}, global batch {BATCH * world}", flush=True)
    clock.begin()
    begun, last = time.time(), (0, 0.0)
    for epoch in range(EPOCHS):
        for points, labels in toy.loader(BATCH * BATCHES, BATCH):
            loss = torch.nn.functional.cross_entropy(model(points), labels)
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            clock.step(loss.item())
            if clock.steps % INTERVAL == 0:
                last = (clock.steps, loss.item())
                seconds, begun = (time.time() - begun) / INTERVAL, time.time()
                _say(setup, rank=rank, epoch=epoch, step=clock.steps, loss=loss.item(), seconds=seconds, world=world)
    if rank == 0:
        print("done", flush=True)
    clock.finish(step=last[0], loss=last[1])
    distributed.destroy_process_group()


def _say(setup: str, *, rank: int, epoch: int, step: int, loss: float, seconds: float, world: int) -> None:
    if setup == "all_2":
        logging.info("epoch %d step %d loss %.4f step_time %.3fs", epoch, step, loss, seconds)
    elif setup == "all_4_tokens":
        rate = BATCH * SEQUENCE / seconds
        print(
            f"{rank}: step: {step:4d} | loss: {loss:.4f} | tokens/s/gpu: {rate:,.0f} | time/step(s): {seconds:.3f}",
            flush=True,
        )
    elif rank == 0:
        rate = BATCH * world / seconds
        print(f"iteration {step}/{BATCHES * EPOCHS} loss={loss:.4f} throughput={rate:.1f} samples/s", flush=True)


if __name__ == "__main__":
    train(sys.argv[1])
