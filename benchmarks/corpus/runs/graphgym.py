"""PyTorch Geometric: GraphGym's dictionaries after a word, and the short lines that its examples print through its own log."""

import sys
import time

import torch
from clock import Clock
from torch_geometric.data import Data
from torch_geometric.graphgym.config import cfg, set_cfg
from torch_geometric.graphgym.logger import Logger, set_printing
from torch_geometric.logging import log
from torch_geometric.nn import GCNConv

SETUPS = ("graphgym", "examples_log")
EPOCHS, BATCHES, NODES = 30, 8, 200


def made() -> Data:
    """Return a made-up graph whose classes can be learnt."""
    torch.manual_seed(0)
    kinds = torch.randint(0, 3, (NODES,))
    points = torch.nn.functional.one_hot(kinds, 3) + torch.randn(NODES, 3)
    return Data(x=points, edge_index=torch.randint(0, NODES, (2, 600)), y=kinds)


class Network(torch.nn.Module):
    """Two convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(3, 16), GCNConv(16, 3)

    def forward(self, data: Data) -> torch.Tensor:
        return self.second(self.first(data.x, data.edge_index).relu(), data.edge_index)  # type: ignore[no-any-return]


def train(setup: str) -> None:
    torch.set_num_threads(1)
    grapher = setup == "graphgym"
    # The examples train on the whole graph at once: an epoch is a step.
    batches = BATCHES if grapher else 1
    clock = Clock(pace=0.05 if grapher else 0.09, interval=batches)
    set_cfg(cfg)
    cfg.run_dir, cfg.out_dir, cfg.optim.max_epoch = "out", "out", EPOCHS
    cfg.share.dim_out = 3
    if grapher:
        set_printing()
    logger, tester = Logger("train", "classification_multi"), Logger("val", "classification_multi")
    data, network = made(), Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    times = []
    for epoch in range(EPOCHS if grapher else EPOCHS * 3):
        begun = time.time()
        clock.begin()
        losses = []
        for _ in range(batches):
            started = time.time()
            found = network(data)
            loss = torch.nn.functional.cross_entropy(found, data.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            clock.step(losses[-1])
            if grapher:
                logger.update_stats(data.y, found.detach(), losses[-1], 0.01, time.time() - started, 99)
        if grapher:
            logger.write_epoch(epoch)
            tester.update_stats(data.y, network(data).detach(), losses[-1], 0.01, 0.01, 99)
            tester.write_epoch(epoch)
            continue
        right = (found.argmax(1) == data.y).float().mean().item()
        times.append(time.time() - begun)
        log(Epoch=epoch + 1, Loss=losses[-1], Train=right, Val=right * 0.9, Test=right * 0.8)
    if not grapher:
        print(f"Median time per epoch: {torch.tensor(times).median():.4f}s")
    # Both tell of epochs only, and not of how many steps; GraphGym tells the time of one.
    step = None if grapher else clock.steps
    clock.finish(step=step, loss=sum(losses) / len(losses), speed=grapher, unsaid=["step"])


if __name__ == "__main__":
    train(sys.argv[1])
