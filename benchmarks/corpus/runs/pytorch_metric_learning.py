"""PyTorch Metric Learning: bars whose head is the loss."""

import logging
import sys

import torch
import toy
from clock import Clock
from clock_torch import clock_optimizers
from pytorch_metric_learning import losses, miners, trainers

SETUPS = ("loss_as_head", "loss_as_head_log_times")
BATCH, BATCHES, EPOCHS = 16, 40, 4


def train(setup: str) -> None:
    torch.manual_seed(0)
    style = {"format": "%(asctime)s %(name)s: %(message)s"} if "times" in setup else {}
    logging.basicConfig(level=logging.INFO, **style)
    logging.getLogger("PML").setLevel(logging.INFO)
    clock = Clock(pace=0.05, batch=BATCH)
    clock_optimizers(clock)
    model = toy.model()
    told = [0.0]

    def ended(trainer: trainers.MetricLossOnly) -> None:
        told[0] = trainer.losses["total_loss"].item()

    trainer = trainers.MetricLossOnly(
        models={"trunk": model},
        optimizers={"trunk_optimizer": torch.optim.Adam(model.parameters(), lr=0.001)},
        batch_size=BATCH,
        loss_funcs={"metric_loss": losses.TripletMarginLoss(margin=0.2)},
        mining_funcs={"tuple_miner": miners.MultiSimilarityMiner()} if "times" in setup else {},
        dataset=toy.dataset(BATCH * BATCHES),
        iterations_per_epoch=BATCHES,
        dataloader_num_workers=0,
        end_of_iteration_hook=ended,
        end_of_epoch_hook=lambda _: clock.begin(),
    )
    clock.begin()
    trainer.train(num_epochs=EPOCHS)
    clock.finish(step=[BATCHES, clock.steps], loss=told[0])


if __name__ == "__main__":
    train(sys.argv[1])
