"""Jobs that a configuration describes, behind launchers and libraries whose source is not in the tree."""

from pathlib import Path

import pytest

from .trees import workload

RECIPE = """
base_model: acme/gemma-2-9b
datasets:
  - path: acme/SlimOrcaTidy
val_set_size: {held_out}
num_epochs: 4
micro_batch_size: 2
learning_rate: 0.0002
"""


@pytest.mark.parametrize(("held_out", "valid"), [("0.05", "SlimOrcaTidy"), ("0.0", None)])
def test_a_tool_that_is_not_in_the_tree_reads_the_file_it_names(
    tmp_path: Path, held_out: str, valid: str | None
) -> None:
    files = {"job.yml": RECIPE.replace("{held_out}", held_out)}
    found = workload(tmp_path, files, "tuner train job.yml --num-epochs 2")
    assert (found.model_name, found.dataset_train, found.dataset_valid) == ("acme/gemma-2-9b", "SlimOrcaTidy", valid)
    assert (found.iters, found.iter_type, found.lr) == (2, "epoch", 0.0002)


LAUNCH = """
CONFIG=$1
GPUS=$2
python -m torch.distributed.launch --nproc_per_node=$GPUS $(dirname "$0")/train.py $CONFIG --launcher pytorch ${@:3}
"""
ROOTED = """
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python $ROOT/train.py $1 ${@:3}
"""


@pytest.mark.parametrize("script", [LAUNCH, ROOTED])
def test_a_script_beside_its_program(tmp_path: Path, script: str) -> None:
    program = """
import argparse
from mmengine.config import Config, DictAction
from mmengine.runner import Runner
parser = argparse.ArgumentParser()
parser.add_argument("config")
parser.add_argument("--launcher")
parser.add_argument("--cfg-options", nargs="+", action=DictAction)
args = parser.parse_args()
cfg = Config.fromfile(args.config)
if args.cfg_options is not None:
    cfg.merge_from_dict(args.cfg_options)
Runner.from_cfg(cfg).train()
"""
    config = """
max_epochs = 4
model = dict(type='EncoderDecoder', backbone=dict(type='Base'))
train_cfg = dict(by_epoch=True, max_epochs=max_epochs, val_interval=1)
train_dataloader = dict(batch_size=2, dataset=dict(type='CityscapesDataset'))
val_dataloader = train_dataloader
"""
    files = {"tools/run.sh": script, "tools/train.py": program, "configs/pspnet_small.py": config}
    found = workload(
        tmp_path, files, "bash tools/run.sh configs/pspnet_small.py 4 --cfg-options train_cfg.max_epochs=6", 4
    )
    assert (found.model_name, found.iters, found.iter_type) == ("PSPNet", 6, "epoch")


def test_a_reference_model_that_answers_is_no_evaluation(tmp_path: Path) -> None:
    source = """
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models

loader = DataLoader(datasets.CIFAR10("x"), batch_size=16)
model, reference = models.resnet18(), models.resnet18()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(5):
    for x, y in loader:
        with torch.no_grad():
            wanted = reference(x)
        loss = torch.nn.functional.mse_loss(model(x), wanted)
        loss.backward()
        optimizer.step()
"""
    found = workload(tmp_path, {"train.py": source}, "python train.py")
    assert (found.dataset_train, found.dataset_valid, found.iters) == ("CIFAR10", None, 5)


def test_files_beside_the_source(tmp_path: Path) -> None:
    source = """
import argparse
from pathlib import Path
import yaml
from stable_baselines3 import SAC
parser = argparse.ArgumentParser()
parser.add_argument("--env", default="CartPole-v1")
args = parser.parse_args()
path = str(Path(__file__).resolve().parent / "settings" / "sac.yml")
with open(path) as file:
    settings = yaml.safe_load(file)[args.env]
SAC("MlpPolicy", args.env).learn(int(settings["n_timesteps"]))
"""
    files = {"agents/train.py": source, "agents/settings/sac.yml": "Pendulum-v1:\n  n_timesteps: 5e5\n"}
    found = workload(tmp_path, files, "python agents/train.py --env Pendulum-v1")
    assert (found.model_name, found.dataset_train, found.iters, found.iter_type) == ("SAC", "Pendulum-v1", 5e5, "step")
