"""What a job trains, on trees of many kinds."""

from pathlib import Path

import pytest

from .trees import LOOP, NETS, workload


def test_a_loop_with_options(tmp_path: Path) -> None:
    found = workload(
        tmp_path, {"train.py": LOOP, "nets.py": NETS}, "torchrun --nproc_per_node=4 train.py --epochs=7 -b 64", 4, 2
    )
    assert (found.model_name, found.dataset_train, found.dataset_valid) == ("TinyNet", "SVHN", "SVHN")
    assert (found.iters, found.iter_type, found.batch_size, found.lr, found.gpus) == (7, "epoch", 64, 0.1, 8)
    assert found.task_type == "image-classification"


def test_no_evaluation_is_no_data_set(tmp_path: Path) -> None:
    found = workload(
        tmp_path,
        {"train.py": LOOP.replace("        evaluate(model, test_loader)\n", ""), "nets.py": NETS},
        "python train.py",
    )
    assert found.dataset_train == "SVHN"
    assert found.dataset_valid is None


def test_a_resumed_range_counts_from_its_beginning(tmp_path: Path) -> None:
    source = LOOP.replace("range(args.start_epoch, args.epochs)", "range(start, start + args.epochs)").replace(
        "    model = TinyNet", "    start = torch.load('x')['epoch'] if args.start_epoch else 0\n    model = TinyNet"
    )
    found = workload(tmp_path, {"train.py": source, "nets.py": NETS}, "python train.py --start-epoch 3 --epochs 9")
    assert (found.iters, found.iter_type) == (9, "epoch")


def test_a_trainer_of_transformers(tmp_path: Path) -> None:
    source = """
from dataclasses import dataclass, field
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, HfArgumentParser, Trainer, TrainingArguments

@dataclass
class Ours:
    model: str = field(default="acme/tiny-bert")
    task: str = field(default="mrpc")

ours, training = HfArgumentParser((Ours, TrainingArguments)).parse_args_into_dataclasses()
data = load_dataset("glue", ours.task)
model = AutoModelForSequenceClassification.from_pretrained(ours.model)
trainer = Trainer(model=model, args=training, train_dataset=data["train"],
                  eval_dataset=data["validation"] if training.do_eval else None)
trainer.train()
"""
    found = workload(
        tmp_path,
        {"run.py": source},
        "accelerate launch run.py --task sst2 --num_train_epochs 4 --learning_rate 1e-4 --output_dir o",
    )
    assert (found.model_name, found.dataset_train, found.dataset_valid) == ("acme/tiny-bert", "glue/sst2", None)
    assert (found.iters, found.iter_type, found.lr, found.task_type) == (4, "epoch", 1e-4, "text-classification")
    steps = workload(tmp_path, {}, "python run.py --max_steps 500 --do_eval --output_dir o")
    assert (steps.iters, steps.iter_type, steps.dataset_valid, steps.batch_size) == (500, "step", "glue/mrpc", 8)


def test_hydra_groups_experiments_and_overrides(tmp_path: Path) -> None:
    files = {
        "train.py": """
import hydra
import lightning as L

@hydra.main(config_path="conf", config_name="main", version_base=None)
def main(cfg):
    model = hydra.utils.instantiate(cfg.model)
    data = hydra.utils.instantiate(cfg.data)
    trainer = hydra.utils.instantiate(cfg.trainer)
    trainer.fit(model, datamodule=data)

main()
""",
        "lit.py": """
import torch, lightning as L
from torchvision.datasets import EuroSAT
from torch.utils.data import DataLoader
class SmallNet(torch.nn.Module):
    pass
class LitClassifier(L.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.net, self.lr = SmallNet(), lr
    def configure_optimizers(self):
        return torch.optim.AdamW(self.net.parameters(), lr=self.lr)
class Data(L.LightningDataModule):
    def __init__(self, batch_size, root):
        self.batch_size, self.root = batch_size, root
    def train_dataloader(self):
        return DataLoader(EuroSAT(self.root), batch_size=self.batch_size)
    def val_dataloader(self):
        return DataLoader(EuroSAT(self.root), batch_size=self.batch_size)
""",
        "conf/main.yaml": "defaults:\n  - _self_\n  - model: small\n  - data: sat\n  - trainer: cpu\n  - experiment: null\nsize: 16\n",
        "conf/model/small.yaml": "_target_: lit.LitClassifier\nlr: 0.1\n",
        "conf/data/sat.yaml": "_target_: lit.Data\nbatch_size: ${size}\nroot: d\n",
        "conf/trainer/cpu.yaml": "_target_: lightning.Trainer\nmax_epochs: 3\n",
        "conf/trainer/gpu.yaml": "defaults:\n  - cpu\naccelerator: gpu\n",
        "conf/experiment/big.yaml": "# @package _global_\ndefaults:\n  - override /trainer: gpu\nmodel:\n  lr: 0.02\nsize: 128\n",
    }
    found = workload(tmp_path, files, "python train.py experiment=big trainer.max_epochs=11")
    assert (found.iters, found.iter_type, found.batch_size, found.lr) == (11, "epoch", 128, 0.02)
    assert (found.model_name, found.dataset_train, found.dataset_valid) == ("SmallNet", "EuroSAT", "EuroSAT")


@pytest.mark.parametrize(
    ("command", "iters", "rate"),
    [
        ("python t.py conf.py", 24, 0.01),
        ("python t.py conf.py --options train_cfg.max_epochs=6 optim_wrapper.optimizer.lr=0.5", 6, 0.5),
    ],
)
def test_configurations_that_inherit(command: str, iters: int, rate: float, tmp_path: Path) -> None:
    files = {
        "base/run.py": "train_cfg = dict(type='EpochBasedTrainLoop', max_epochs=24)\nval_cfg = dict()\n"
        "optim_wrapper = dict(optimizer=dict(lr=0.02))\n",
        "conf.py": "_base_ = ['base/run.py']\nmodel = dict(type='FCOS')\n"
        "optim_wrapper = dict(optimizer=dict(lr=0.01))\ndata_root = 'data/coco/'\n",
        "t.py": """
import argparse
from mmengine.config import Config, DictAction
from mmengine.runner import Runner
parser = argparse.ArgumentParser()
parser.add_argument("config")
parser.add_argument("--options", nargs="+", action=DictAction)
args = parser.parse_args()
cfg = Config.fromfile(args.config)
if args.options is not None:
    cfg.merge_from_dict(args.options)
Runner.from_cfg(cfg).train()
""",
    }
    found = workload(tmp_path, files, command)
    assert (found.model_name, found.task_type, found.dataset_train) == ("FCOS", "object-detection", "coco")
    assert (found.iters, found.iter_type, found.lr) == (iters, "epoch", rate)


def test_an_agent_in_an_environment(tmp_path: Path) -> None:
    source = "import gymnasium as gym\nfrom stable_baselines3 import TD3\nimport sys\n"
    source += "env = gym.make('Hopper-v4')\nTD3('MlpPolicy', env).learn(int(sys.argv[1]))\n"
    found = workload(tmp_path, {"rl.py": source}, "python rl.py 30000")
    assert (found.model_name, found.task_type, found.dataset_train) == ("TD3", "reinforcement-learning", "Hopper-v4")
    assert (found.iters, found.iter_type) == (30000, "step")


def test_steps_given_as_epochs_and_taken_back(tmp_path: Path) -> None:
    source = LOOP.replace(
        "    for epoch in range(args.start_epoch",
        "    per_epoch = len(train_loader) // 4\n    total = args.epochs * per_epoch\n"
        "    import math\n    args.epochs = math.ceil(total / per_epoch)\n    for epoch in range(args.start_epoch",
    )
    assert workload(tmp_path, {"train.py": source, "nets.py": NETS}, "python train.py").iters == 10


def test_nothing_is_guessed_from_nothing(tmp_path: Path) -> None:
    found = workload(tmp_path, {"x.py": "print('hello')\n"}, "python x.py", 2)
    fields = {name: getattr(found, name) for name in found.__struct_fields__ if name not in {"v", "gpus"}}
    assert set(fields.values()) == {None}
    assert found.gpus == 2
