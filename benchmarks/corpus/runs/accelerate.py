"""A loop with Accelerate: its logger, its bar on the main process only, and accumulation."""

import logging
import sys

import torch
import toy
from accelerate import Accelerator
from accelerate.logging import get_logger
from clock import Clock
from tqdm.auto import tqdm

SETUPS = {"bar_postfix": {}, "logger": {"interval": 10}, "print_accumulation": {"interval": 4}}
BATCH, BATCHES, EPOCHS = 16, 60, 2


def train(setup: str) -> None:
    micro = 2 if setup == "print_accumulation" else 1
    clock = Clock(pace=0.06, batch=BATCH * micro, **SETUPS[setup])
    logging.basicConfig(
        format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO
    )
    log = get_logger(__name__, log_level="INFO")
    accelerator = Accelerator(gradient_accumulation_steps=micro, cpu=True)
    model = toy.model()
    optimiser = torch.optim.AdamW(model.parameters())
    model, optimiser, loader = accelerator.prepare(model, optimiser, toy.loader(BATCH * BATCHES, BATCH))
    total = BATCHES * EPOCHS // micro
    log.info("***** Running training *****")
    log.info(f"  Num examples = {BATCH * BATCHES}")
    log.info(f"  Total optimization steps = {total}")
    bar = tqdm(range(total), disable=setup != "bar_postfix", desc="Steps")
    clock.begin()
    step, last = 0, (0, 0.0)
    for epoch in range(EPOCHS):
        for points, labels in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.cross_entropy(model(points), labels)
                accelerator.backward(loss)
                optimiser.step()
                optimiser.zero_grad()
            if not accelerator.sync_gradients:
                continue
            clock.step(loss.item())
            step += 1
            bar.update(1)
            bar.set_postfix(step_loss=loss.detach().item(), lr=1e-3)
            if setup == "bar_postfix":
                last = (step, loss.item())
            elif step % clock.interval == 0:
                last = (step, loss.item())
                if setup == "logger":
                    log.info(f"  global_step = {step}, loss = {loss.item():.6f}", main_process_only=True)
                else:
                    accelerator.print(f"Epoch {epoch}, Step {step}/{total}, Loss: {loss.item():.4f}")
    bar.close()
    accelerator.end_training()
    clock.finish(step=last[0], loss=last[1], speed=setup != "print_accumulation")


if __name__ == "__main__":
    train(sys.argv[1])
