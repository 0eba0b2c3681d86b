"""Loops of plain PyTorch under tqdm, redrawn with carriage returns."""

import sys
import time

import torch
import toy
from clock import Clock
from tqdm import tqdm, trange

SETUPS = {
    "batches": {"batch": 16},
    "postfix_evaluation": {"batch": 32},
    "epochs_outside": {"batch": 16},
    "slow_steps": {"batch": 8, "pace": 1.2},
    "samples_unit": {"batch": 64},
    "write_between": {"batch": 16, "interval": 10, "slow_start": 3.0},
}


def train(setup: str) -> None:
    options = {"pace": 0.05} | SETUPS[setup]
    clock = Clock(**options)
    batch, batches = clock.batch, 12 if setup == "slow_steps" else 60
    epochs = 2 if setup == "slow_steps" else 3
    model, loader = toy.model(), toy.loader(batch * batches, batch)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
    told: list[float] = []
    steps: list[int] = []
    outer = trange(epochs, desc="epochs") if setup == "epochs_outside" else range(epochs)
    for epoch in outer:
        bar = _bar(setup, loader, epoch, epochs, batch * batches)
        clock.begin()
        for index, (points, labels) in enumerate(bar if setup != "samples_unit" else loader):
            loss = torch.nn.functional.cross_entropy(model(points), labels)
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            clock.step(loss.item())
            told = [loss.item(), clock.losses[-2] if index else loss.item()]
            steps = [clock.steps, index + 1]
            if setup == "samples_unit":
                bar.update(len(points))
                bar.set_postfix_str(f"train_loss={loss.item():.4f}")
                steps = [*steps, (index + 1) * batch]
            elif setup == "write_between" and (index + 1) % clock.interval == 0:
                tqdm.write(f"epoch {epoch} step {clock.steps} loss {loss.item():.4f}")
            elif setup in ("postfix_evaluation", "slow_steps"):
                bar.set_postfix(loss=f"{loss.item():.4f}", lr="5.0e-02")
        bar.close()
        if setup == "epochs_outside":  # it leaves no last bar: the last one drawn tells
            steps = [bar.last_print_n, epoch * batches + bar.last_print_n]
        if setup == "postfix_evaluation":
            for _ in tqdm(range(20), desc="Validating", leave=False):
                time.sleep(0.02)
            print(f"epoch {epoch}: val_loss={told[0] * 1.2:.4f} val_acc=0.{70 + epoch}")
    with_loss = setup in ("postfix_evaluation", "slow_steps", "samples_unit", "write_between")
    clock.finish(step=steps, loss=told if with_loss else None)


def _bar(setup: str, loader: torch.utils.data.DataLoader, epoch: int, epochs: int, samples: int) -> tqdm:  # type: ignore[type-arg]
    if setup == "samples_unit":
        return tqdm(total=samples, desc=f"Epoch {epoch + 1}/{epochs}", unit="img", unit_scale=True)
    if setup == "epochs_outside":
        return tqdm(loader, leave=False, desc=f"train {epoch}")
    if setup == "batches":
        return tqdm(loader)
    return tqdm(loader, desc=f"Epoch {epoch + 1}/{epochs}")


if __name__ == "__main__":
    train(sys.argv[1])
