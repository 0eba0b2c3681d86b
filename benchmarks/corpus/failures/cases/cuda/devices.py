"""GPUs that are not there, are shared, or are lost with their process."""

from typing import Any

from benchmarks.corpus.failures.case import infrastructure, raised, user_script

from .program import LIGHTNING, at_step, case

_TWO_RANKS = """
import os

import torch
import torch.distributed as dist
from loop import train

dist.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device({device})
for step in train():
    if step == 5010:
        dist.all_reduce(torch.ones(4, device="cuda"))
"""


_TORCHRUN = "python -m torch.distributed.run --standalone --nproc-per-node 2 train.py"


_NO_DEVICE: dict[str, Any] = {
    "also_types": ("infrastructure",),
    "also_components": ("gpu", "node"),
    "restartable": None,
}


CASES = [
    at_step(
        "two_devices",
        'print((torch.ones(4, device="cuda") + torch.ones(4)).sum())',
        user_script(
            why="tensors on two devices", **raised(r"RuntimeError: Expected all tensors to be on the same device")
        ),
    ),
    case(
        "nccl_same_gpu",
        _TWO_RANKS.format(device=0),
        user_script(
            why="two ranks on one GPU",
            also_types=("framework",),
            repeated=True,
            **raised(r"Duplicate GPU detected|ncclInvalidUsage"),
        ),
        _TORCHRUN,
    ),
    case(
        "ordinal_beyond",
        _TWO_RANKS.format(device="rank"),
        user_script(
            why="a second rank where there is one GPU",
            **(_NO_DEVICE | raised(r"invalid device ordinal")),
        ),
        _TORCHRUN,
    ),
    at_step(
        "no_visible_device",
        'print(torch.ones(2).to("cuda"))',
        user_script(
            why="the job may see no GPU", **(_NO_DEVICE | raised(r"No CUDA GPUs are available|no CUDA-capable device"))
        ),
        "CUDA_VISIBLE_DEVICES=7 python train.py",
    ),
    at_step(
        "stub_driver",
        'print(torch.ones(2).to("cuda"))',
        infrastructure(
            "gpu",
            r"stub library|driver|CUDA error|No CUDA GPUs",
            "the driver's stub is found in the place of the driver",
            restartable=None,
            begin=r"Traceback",
            also_types=("user_script", "framework"),
            also_components=("node", "none"),
        ),
        "LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs:/usr/local/cuda/targets/x86_64-linux/lib/stubs LD_PRELOAD=$(ls "
        "/usr/local/cuda/lib64/stubs/libcuda.so /usr/local/cuda/targets/x86_64-linux/lib/stubs/libcuda.so 2>/dev/null | head -1) "
        "python train.py",
    ),
    at_step(
        "checkpoint_of_second_gpu",
        'torch.save(torch.ones(4, device="cuda"), "last.pt")\ntorch.load("last.pt", map_location="cuda:1")',
        user_script(
            why="a checkpoint is put on a GPU that is not there",
            also_types=("framework",),
            **raised(r"Attempting to deserialize object on CUDA device 1|invalid device ordinal"),
        ),
    ),
    case(
        "cuda_after_fork",
        """
        import torch
        from loop import train
        from torch.utils.data import DataLoader, Dataset


        class Samples(Dataset):
            def __len__(self):
                return 4000

            def __getitem__(self, index):
                return torch.ones(8, device="cuda") * index


        if __name__ == "__main__":
            torch.ones(1, device="cuda")
            batches = iter(DataLoader(Samples(), batch_size=16, num_workers=2))
            for step in train():
                next(batches)
        """,
        user_script(
            why="workers of a loader use the GPU that their parent uses",
            **raised(r"Cannot re-initialize CUDA in forked"),
        ),
    ),
    at_step(
        "killed_on_the_gpu",
        'import os\nheld = torch.ones(1 << 30, device="cuda")\nos.kill(os.getpid(), 9)',
        infrastructure(
            "node",
            r"\bKilled\b",
            "a process that holds GPU memory is killed with SIGKILL",
            restartable=None,
            also_types=("other", "user_script"),
            also_components=("none", "gpu"),
        ),
    ),
    case(
        "lightning_two_devices",
        LIGHTNING.replace("devices=1", "devices=2"),
        user_script(
            why="two GPUs are asked for where there is one",
            **(_NO_DEVICE | raised(r"MisconfigurationException: You requested gpu")),
        ),
    ),
    case(
        "mpi_without_shell",
        LIGHTNING.replace("[LightningEnvironment()]", "[]"),
        infrastructure(
            "node",
            r"was set to a path",
            "MPI, found and started by the framework, lacks a remote shell in the container",
            restartable=False,
            end=r"MPI_ERRORS_ARE_FATAL",
            also_types=("framework", "user_script"),
            also_components=("none",),
        ),
    ),
    case(
        "rank_killed_on_gpu",
        """
        import os

        import torch
        import torch.distributed as dist
        from loop import train

        dist.init_process_group("gloo")
        held = torch.ones(1 << 20, device="cuda:0")
        for step in train():
            if step == 5014 and dist.get_rank() == 1:
                os.kill(os.getpid(), 9)
            dist.all_reduce(held[:8].cpu())
        """,
        infrastructure(
            "node",
            r"exitcode: -9|Connection closed by peer|SIGKILL",
            "one of two ranks is killed with SIGKILL",
            restartable=None,
            also_types=("other", "user_script"),
            also_components=("none", "gpu", "network"),
            begin=r"Traceback|closed by peer|exitcode",
            repeated=True,
        ),
        _TORCHRUN,
    ),
]
