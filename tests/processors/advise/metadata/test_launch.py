"""From the line that is submitted to the program that trains."""

from pathlib import Path

import pytest

from processors.advise.metadata.launch import Program, programs
from scheduler_bridge.sources.tree import DirectoryTree

from .trees import grown

FILES = {
    "train.py": "",
    "pkg/__init__.py": "",
    "pkg/run.py": "",
    "run.sh": '#!/bin/bash\nset -e\nLR=${LR:-0.1}\nexport EPOCHS=5\npython -u train.py \\\n  --lr $LR \\\n  --epochs "$EPOCHS" "$@"\n',
    "outer.sh": "for seed in 1 2; do\n  bash run.sh --seed $seed\ndone\n",
    "job.sbatch": "#SBATCH -N 2\nsrun --ntasks=8 python train.py --a b\n",
    "pyproject.toml": '[project.scripts]\nfit = "pkg.run:main"\n',
}


def _started(tmp_path: Path, command: str) -> list[Program]:
    return programs(DirectoryTree(grown(tmp_path, FILES)), ".", command, {})


@pytest.mark.parametrize(
    ("command", "file", "words"),
    [
        ("python train.py --x 1", "train.py", ["--x", "1"]),
        ("CUDA_VISIBLE_DEVICES=0,1 OMP_NUM_THREADS=1 nohup python3.11 -u train.py > log.txt 2>&1 &", "train.py", []),
        ("torchrun --standalone --nproc_per_node=8 train.py --x 1", "train.py", ["--x", "1"]),
        ("torchrun --nnodes 2 --rdzv_id 42 --rdzv_endpoint h:29500 -m pkg.run --x", "pkg/run.py", ["--x"]),
        ("python -m torch.distributed.launch --nproc_per_node 8 --use_env train.py a", "train.py", ["a"]),
        ("accelerate launch --multi_gpu --num_processes 4 train.py m.n=1", "train.py", ["m.n=1"]),
        ("deepspeed --num_gpus 2 train.py --deepspeed c.json", "train.py", ["--deepspeed", "c.json"]),
        ("srun -N 2 --gres=gpu:8 bash -c 'python train.py --a 1'", "train.py", ["--a", "1"]),
        ("mpirun -np 8 -x NCCL_DEBUG=INFO python train.py", "train.py", []),
        ("sbatch job.sbatch", "train.py", ["--a", "b"]),
        ("uv run python train.py", "train.py", []),
        ("python -m pkg.run y", "pkg/run.py", ["y"]),
        ("bash run.sh --seed 3", "train.py", ["--lr", "0.1", "--epochs", "5", "--seed", "3"]),
        ("LR=0.7 ./run.sh", "train.py", ["--lr", "0.7", "--epochs", "5"]),
        ("bash outer.sh", "train.py", ["--lr", "0.1", "--epochs", "5", "--seed", "1"]),
        ("cd pkg && python run.py", "pkg/run.py", []),
        ("./run.sh -c conf.yaml", "train.py", ["--lr", "0.1", "--epochs", "5", "-c", "conf.yaml"]),
        ("env LR=0.7 bash -e run.sh", "train.py", ["--lr", "0.7", "--epochs", "5"]),
        ("bash -lc 'python train.py --a 1'", "train.py", ["--a", "1"]),
        ("docker run --gpus all -e LR=0.3 image bash run.sh", "train.py", ["--lr", "0.3", "--epochs", "5"]),
    ],
)
def test_launchers_are_taken_off(command: str, file: str, words: list[str], tmp_path: Path) -> None:
    first = _started(tmp_path, command)[0]
    assert (first.file, list(first.argv[1:])) == (file, words)


def test_an_installed_command_of_the_tree_is_followed(tmp_path: Path) -> None:
    assert "from pkg.run import main" in _started(tmp_path, "fit --x 1")[0].code


def test_a_script_that_calls_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "loop.sh").write_text("bash loop.sh\nbash loop.sh\n")
    assert [each.file for each in programs(DirectoryTree(tmp_path), ".", "bash loop.sh", {})] == [""]


def test_a_script_outside_of_the_tree_is_not_read(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "x.sh").write_text("python train.py")
    assert [each.file for each in programs(DirectoryTree(inside), ".", "bash ../x.sh", {})] == [""]
