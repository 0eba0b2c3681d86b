"""What an option or a file that nothing read may set otherwise is null."""

from pathlib import Path

from .trees import LOOP, NETS, workload

FOREIGN = LOOP.replace(
    'parser.add_argument("--epochs", type=int, default=10)', "parser.set_defaults(epochs=10)"
).replace("parser.parse_args()", "parser.parse_known_args()[0]")
WITH_LIBRARY = {"x.py": FOREIGN, "nets.py": NETS}
"""A parser that does not know `--epochs`."""


def test_an_option_that_no_parser_knows_makes_its_field_unknown(tmp_path: Path) -> None:
    found = workload(tmp_path, WITH_LIBRARY, "python x.py --epochs 30")
    assert found.iters is None
    assert found.iter_type == "epoch"
    assert (found.batch_size, found.lr) == (32, 0.1)


def test_an_option_that_says_the_same_leaves_it(tmp_path: Path) -> None:
    assert workload(tmp_path, WITH_LIBRARY, "python x.py --epochs 10").iters == 10


def test_an_option_of_another_meaning_leaves_it(tmp_path: Path) -> None:
    assert workload(tmp_path, WITH_LIBRARY, "python x.py --warmup-epochs 3").iters == 10


def test_an_unread_option_of_another_unit_makes_the_unit_unknown(tmp_path: Path) -> None:
    found = workload(tmp_path, WITH_LIBRARY, "python x.py --max-steps 500")
    assert (found.iters, found.iter_type) == (None, None)


def test_a_file_that_is_not_read_makes_what_it_sets_unknown(tmp_path: Path) -> None:
    files = {**WITH_LIBRARY, "long.yaml": "epochs: 90\n"}
    found = workload(tmp_path, files, "python x.py --settings long.yaml")
    assert found.iters is None
    assert found.lr == 0.1


def test_a_file_that_is_not_there_makes_all_numbers_unknown(tmp_path: Path) -> None:
    found = workload(tmp_path, WITH_LIBRARY, "python x.py --config /jobs/nightly.yaml")
    assert (found.iters, found.batch_size, found.lr) == (None, None, None)


def test_a_preset_that_no_setting_names_makes_all_numbers_unknown(tmp_path: Path) -> None:
    found = workload(tmp_path, WITH_LIBRARY, "python x.py --preset large")
    assert (found.iters, found.batch_size, found.lr) == (None, None, None)


def test_keywords_that_are_not_known_make_defaults_unknown(tmp_path: Path) -> None:
    program = """
import dataclasses, torch, remote

@dataclasses.dataclass
class Settings:
    epochs: int = 30
    rate: float = 0.1

settings = Settings(**remote.settings())
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=settings.rate)
for epoch in range(settings.epochs):
    model(x).sum().backward()
    optimizer.step()
"""
    found = workload(tmp_path, {"train.py": program}, "python train.py")
    assert (found.iters, found.lr) == (None, None)


def test_of_two_data_sets_that_a_condition_chooses_none_is_told_unless_named(tmp_path: Path) -> None:
    program = """
import remote, torch
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10, SVHN
from nets import TinyNet

data = CIFAR10("data") if remote.ask() else SVHN("data")
model = TinyNet(10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in DataLoader(data, batch_size=8):
        model(x).sum().backward()
        optimizer.step()
"""
    files = {"train.py": program, "nets.py": NETS}
    assert workload(tmp_path, files, "python train.py").dataset_train is None
    assert workload(tmp_path, files, "python train.py --data svhn").dataset_train == "SVHN"


def test_the_beginning_of_a_path_that_goes_on_unknown_names_no_data(tmp_path: Path) -> None:
    program = """
import os, pathlib, remote, torch
import numpy as np
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for x in np.load(os.path.join("mirror/graphs", remote.name(), "train.npy")):
        model(x).sum().backward()
        optimizer.step()
"""
    assert workload(tmp_path, {"train.py": program}, "python train.py").dataset_train is None


def test_a_parameter_that_is_a_path_is_opened(tmp_path: Path) -> None:
    source = """
import typer, yaml
from pathlib import Path
import torch
from nets import TinyNet

def main(config: Path, rounds: int = 2):
    with config.open() as file:
        settings = yaml.safe_load(file)
    model = TinyNet(2)
    optimizer = torch.optim.SGD(model.parameters(), lr=settings["step"]["first"])
    for epoch in range(settings["length"]["passes"]):
        model(1).backward()
        optimizer.step()

typer.run(main)
"""
    files = {"x.py": source, "nets.py": NETS, "c.yaml": "length: {passes: 17}\nstep: {first: 0.25}\n"}
    found = workload(tmp_path, files, "python x.py c.yaml")
    assert (found.iters, found.iter_type, found.lr) == (17, "epoch", 0.25)
