"""Loops of plain PyTorch that print their progress in the ways that people write."""

import json
import logging
import sys
import time

import torch
import toy
from clock import Clock

SETUPS = {
    "interval": {"interval": 10},
    "imagenet_meters": {"interval": 10},
    "logging_timestamps": {"interval": 5},
    "json_lines": {"interval": 4},
    "accumulation_pause": {"interval": 4, "pause": 3.0, "pause_after": 60},
    "resumed": {"interval": 10},
    "csv": {"interval": 5},
    "evaluation_between": {"interval": 10, "slow_start": 2.0},
}
BATCH, BATCHES, EPOCHS = 16, 50, 3


def train(setup: str) -> None:
    clock = Clock(pace=0.04, batch=BATCH, **SETUPS[setup])
    if setup in ("logging_timestamps", "accumulation_pause"):
        logging.basicConfig(
            level=logging.INFO, stream=sys.stdout, format="%(asctime)s - %(levelname)s - %(name)s - %(message)s"
        )
    model, loader = toy.model(), toy.loader(BATCH * BATCHES, BATCH)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    first = 1200 if setup == "resumed" else 0
    step, told_step, told_loss = first, [], []
    say = Speaker(setup)
    say.begin(model, first)
    clock.begin()
    begun = time.time()
    for epoch in range(EPOCHS):
        micro = 2 if setup == "accumulation_pause" else 1
        for index, (points, labels) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(points), labels)
            (loss / micro).backward()
            optimiser.step()
            optimiser.zero_grad()
            clock.step(loss.item())
            step += 1
            if (index + 1) % clock.interval == 0:
                seconds = (time.time() - begun) / clock.interval
                told = say.report(
                    epoch=epoch, index=index + 1, step=step, loss=loss.item(), seconds=seconds, batch=BATCH
                )
                told_step, told_loss = [step, told], [loss.item(), *say.mean]
                begun = time.time()
        if setup == "evaluation_between":
            time.sleep(1.0)
            print(
                f"Validation: epoch {epoch} | val_loss {loss.item() * 1.1:.4f} | accuracy {81.25 + epoch:.2f}% | 1.0s"
            )
            clock.begin()
            begun = time.time()
    say.end(setup)
    clock.finish(
        step=None if setup == "accumulation_pause" else told_step, loss=told_loss, speed=setup not in ("csv", "resumed")
    )


class Speaker:
    """Prints in the manner of one set-up."""

    def __init__(self, setup: str) -> None:
        self.setup = setup
        self.log = logging.getLogger("train")
        self.losses: list[float] = []
        self.mean: list[float] = []
        self.times: list[float] = []

    def begin(self, model: torch.nn.Module, first: int) -> None:
        count = sum(each.numel() for each in model.parameters())
        if self.setup == "csv":
            print("epoch,step,loss,lr")
        elif self.setup == "json_lines":
            print(json.dumps({"event": "config", "params": count, "batch_size": BATCH, "lr": 3e-3}))
        else:
            print(f"Model has {count:,} parameters, training on cpu")
        if first:
            print(f"=> loaded checkpoint 'checkpoint_{first}.pt' (step {first})")

    def report(self, *, epoch: int, index: int, step: int, loss: float, seconds: float, batch: int) -> int:
        """Print a report; return the step that it names."""
        self.losses.append(loss)
        if self.setup == "interval":
            print(f"[epoch {epoch + 1}/{EPOCHS}] step {step}: loss = {loss:.4f}, {seconds * 1000:.1f} ms/step")
        elif self.setup == "imagenet_meters":
            self._meters(epoch, index, loss, seconds)
            return index
        elif self.setup == "logging_timestamps":
            self.log.info("step %d loss %.5f lr %.2e", step, loss, 3e-3)
        elif self.setup == "json_lines":
            line = {
                "step": step,
                "epoch": epoch,
                "train/loss": round(loss, 5),
                "samples_per_sec": round(batch / seconds, 2),
            }
            print(json.dumps(line | {"time": round(time.time(), 3)}))
        elif self.setup == "accumulation_pause":
            self.log.info("Train Epoch: %d [%d/%d]\tLoss: %.6f", epoch, index * batch, BATCHES * batch, loss)
            return index
        elif self.setup == "csv":
            print(f"{epoch},{step},{loss:.6f},0.003")
        elif self.setup == "evaluation_between":
            print(f"Epoch: {epoch} | Iter: {index} | Loss: {loss:.4f} | Throughput: {batch / seconds:.1f} samples/sec")
            return index
        else:
            print(f"iter {step}: loss {loss:.4f}, lr 3.00e-03")
        return step

    def _meters(self, epoch: int, index: int, loss: float, seconds: float) -> None:
        self.times.append(seconds)
        self.mean = [sum(self.losses) / len(self.losses)]
        average = sum(self.times) / len(self.times)
        print(
            f"Epoch: [{epoch}][{index:>3}/{BATCHES}]\tTime {seconds:6.3f} ({average:6.3f})\tData  0.001 ( 0.001)\t"
            f"Loss {loss:.4e} ({self.mean[0]:.4e})\tAcc@1  {62.5:6.2f} ({60.1:6.2f})"
        )

    @staticmethod
    def end(setup: str) -> None:
        if setup in ("interval", "resumed"):
            print("Saving model to model.pt")
            print("Training complete")


if __name__ == "__main__":
    train(sys.argv[1])
