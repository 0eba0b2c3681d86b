"""How many source trees a second the metadata extractor reads: `python -m benchmarks.metadata`.

Trees of one training each, made up: a loop with options, as many modules beside it as `FILES`, a configuration.
"""

import tempfile
import time
from pathlib import Path

from processors.advise.metadata import Job
from processors.advise.metadata.reading import workload
from scheduler_bridge.sources.tree import DirectoryTree

TREES = 40
FILES = 60

_PROGRAM = """
import argparse, yaml, torch, torchvision
from torch.utils.data import DataLoader
from layers import *
args = argparse.ArgumentParser()
args.add_argument("--config")
args.add_argument("--epochs", type=int, default=5)
args = args.parse_args()
settings = yaml.safe_load(open(args.config))
model = Net0(settings["width"])
optimizer = torch.optim.SGD(model.parameters(), lr=settings["lr"])
loader = DataLoader(torchvision.datasets.MNIST("data"), batch_size=settings["batch"])
for epoch in range(args.epochs):
    for x, y in loader:
        model(x).sum().backward()
        optimizer.step()
"""


def measure() -> list[tuple[str, str]]:
    """Return trees a second of wall time, as rows of a table."""
    with tempfile.TemporaryDirectory() as place:
        jobs = [_job(Path(place) / str(number), number) for number in range(TREES)]
        start = time.perf_counter()
        found = [workload(DirectoryTree(each.tree), each) for each in jobs]
        took = time.perf_counter() - start
    if any(each.iters != number + 1 for number, each in enumerate(found)):
        raise ValueError("expected the length of each tree's own command")
    return [("source trees read, of 60 modules", f"{TREES / took:,.0f} trees/s")]


def _job(tree: Path, number: int) -> Job:
    (tree / "layers").mkdir(parents=True)
    (tree / "train.py").write_text(_PROGRAM, encoding="utf-8")
    (tree / "c.yaml").write_text("width: 8\nlr: 0.1\nbatch: 32\n", encoding="utf-8")
    names = "".join(f"from .layer{each} import Net{each}\n" for each in range(FILES))
    (tree / "layers" / "__init__.py").write_text(names, encoding="utf-8")
    for each in range(FILES):
        body = f"import torch.nn as nn\nclass Net{each}(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
        body += "".join(f"        self.layer{place} = nn.Linear(width, width)\n" for place in range(30))
        (tree / "layers" / f"layer{each}.py").write_text(body, encoding="utf-8")
    return Job(tree, tree, f"python train.py --config c.yaml --epochs {number + 1}")


if __name__ == "__main__":
    for what, figure in measure():
        print(f"{what}: {figure}")
