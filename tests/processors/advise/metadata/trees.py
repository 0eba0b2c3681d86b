"""Small source trees, made up, and the jobs of them."""

from pathlib import Path

from processors.advise.metadata import Job
from processors.advise.metadata.reading import workload as read_workload
from schedmate_records import Workload
from scheduler_bridge.sources.tree import DirectoryTree


def grown(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def workload(root: Path, files: dict[str, str], command: str, devices: int = 1, nodes: int = 1) -> Workload:
    tree = grown(root, files)
    return read_workload(DirectoryTree(tree), Job(tree, tree, command, devices, nodes))


LOOP = """
import argparse
import torch
from torch.utils.data import DataLoader
from torchvision import datasets
from nets import TinyNet

def evaluate(model, loader):
    model.eval()
    for x, y in loader:
        model(x)

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--start-epoch", type=int, default=0)
    parser.add_argument("-b", "--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
    train_loader = DataLoader(datasets.SVHN("data", split="train"), batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(datasets.SVHN("data", split="test"), batch_size=100)
    model = TinyNet(10).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for epoch in range(args.start_epoch, args.epochs):
        for x, y in train_loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        evaluate(model, test_loader)

if __name__ == "__main__":
    main()
"""
NETS = """
import torch.nn as nn

class TinyNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.head = nn.Linear(8, classes)
"""
