"""pytorch-pfn-extras: a table of reports, and a bar of several rows that are drawn over on a terminal."""

import sys

import pytorch_pfn_extras as ppe
import torch
import toy
from clock import Clock
from pytorch_pfn_extras.training import extensions

SETUPS = ("report_iterations", "bar_and_report_terminal")
BATCH, BATCHES, EPOCHS = 16, 40, 4


def train(setup: str) -> None:
    interval = 10 if setup == "report_iterations" else BATCHES
    clock = Clock(pace=0.06, batch=BATCH, interval=interval)
    model = toy.model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    report = extensions.LogReport(trigger=(interval, "iteration"))
    shown = extensions.PrintReport(["epoch", "iteration", "train/loss", "lr", "elapsed_time"])
    chosen = [report, extensions.observe_lr(optimizer=optimizer), shown]
    if setup == "bar_and_report_terminal":
        chosen.append(extensions.ProgressBar(update_interval=5))
    manager = ppe.training.ExtensionsManager(
        model, optimizer, EPOCHS, iters_per_epoch=BATCHES, extensions=chosen, out_dir="out"
    )
    clock.begin()
    while not manager.stop_trigger:
        for points, labels in toy.loader(BATCH * BATCHES, BATCH):
            with manager.run_iteration():
                optimizer.zero_grad()
                loss = torch.nn.functional.cross_entropy(model(points), labels)
                ppe.reporting.report({"train/loss": loss.item()})
                loss.backward()
                optimizer.step()
                clock.step(loss.item())
    clock.finish(step=clock.steps, loss=report.log[-1]["train/loss"])


if __name__ == "__main__":
    train(sys.argv[1])
