"""PyTorch in one process: data loader workers, checkpoints, shapes, types, devices that are not there."""

from textwrap import dedent
from typing import Any

from benchmarks.corpus.failures.case import Case, Truth, framework, infrastructure, raised, user_script

_LOADER = """
    import ctypes
    import os
    import time

    import torch
    from loop import train
    from torch.utils.data import DataLoader, Dataset


    class Samples(Dataset):
        def __len__(self):
            return 4000

        def __getitem__(self, index):
            if index == {index}:
                {fault}
            return torch.ones({size})


    if __name__ == "__main__":
        batches = iter(DataLoader(Samples(), batch_size=16, num_workers=2))
        for step in train():
            next(batches)
    """
_SHM = "unshare --map-root-user --mount bash -c 'mount -t tmpfs -o size=2m tmpfs /dev/shm; python train.py'"


def _case(name: str, program: str, truth: Truth, run: str = "python train.py", *, seconds: float = 90) -> Case:
    return Case(name, run, truth, {"train.py": dedent(program).lstrip()}, environment="torch", seconds=seconds)


def _loader(index: int, fault: str, size: int = 8) -> str:
    return _LOADER.replace("{index}", str(index)).replace("{fault}", fault).replace("{size}", str(size))


def _user(name: str, body: str, message: str, why: str, **more: Any) -> Case:
    """Return a case in which `body` fails at a step of the loop."""
    lines = body.strip().replace("\n", "\n                ")
    program = f"""
        import torch
        from loop import train

        for step in train():
            if step == 5014:
                {lines}
        """
    return _case(name, program, user_script(why=why, **(raised(message) | more)))


_NO_DRIVER = infrastructure(
    "gpu",
    why="the machine has no GPU driver",
    restartable=None,
    also_types=("user_script",),
    also_components=("node", "none"),
    **raised(r"Found no NVIDIA driver"),
)

CASES = [
    _case(
        "loader_worker_killed",
        _loader(200, "time.sleep(1), os.kill(os.getpid(), 9)"),
        infrastructure(
            "node",
            why="a worker of the data loader is killed with SIGKILL",
            restartable=None,
            also_types=("other", "user_script"),
            also_components=("none",),
            **(raised(r"is killed by signal: Killed") | {"end": r"exited unexpectedly|is killed by signal: Killed"}),
        ),
    ),
    _case(
        "loader_worker_segfault",
        _loader(160, "time.sleep(1), ctypes.string_at(0)"),
        user_script(
            why="a worker of the data loader crashes in native code that the data set calls",
            also_types=("framework", "infrastructure"),
            **(
                raised(r"is killed by signal: Segmentation fault")
                | {"begin": r"ERROR: Unexpected segmentation fault", "end": r"exited unexpectedly"}
            ),
        ),
    ),
    _case(
        "loader_worker_raises",
        _loader(180, "raise ValueError(f'sample {index} has no label')"),
        user_script(
            why="a sample without a label",
            **(raised(r"ValueError: sample 180 has no label") | {"begin": r"^Traceback"}),
        ),
    ),
    _case(
        "loader_exits",
        _loader(120, "time.sleep(1), os._exit(3)"),
        user_script(
            why="a worker of the data loader ends itself",
            also_types=("infrastructure", "framework", "other"),
            restartable=None,
            **(raised(r"DataLoader worker \(pid.*exited unexpectedly") | {"end": r"\(pid\(s\) .*exited unexpectedly"}),
        ),
    ),
    _case(
        "shared_memory_full",
        _loader(-1, "pass", 400_000),
        infrastructure(
            "node",
            r"out of shared memory|No space left on device|is killed by signal: Bus error|unable to (write|allocate shared)",
            "the node's shared memory is full",
            restartable=None,
            also_types=("user_script",),
            also_components=("storage",),
            begin=r"Unexpected bus error|^Traceback",
            end=r"RuntimeError|OSError",
        ),
        _SHM,
    ),
    _case(
        "checkpoint_disk_full",
        """
        import torch
        from loop import train

        model = torch.nn.Linear(600, 600)
        for step in train():
            if step == 5012:
                torch.save(model.state_dict(), "ckpt/last.pt")
        """,
        infrastructure(
            "storage",
            why="the checkpoint's file system is full",
            restartable=False,
            **(raised(r"iostream error|No space left on device|file write failed") | {"end": r"unexpected pos"}),
        ),
        'unshare --map-root-user --mount bash -c "mkdir -p ckpt; mount -t tmpfs -o size=600k tmpfs ckpt; python train.py"',
    ),
    _case(
        "corrupt_checkpoint",
        """
        import torch
        from loop import train

        torch.save({"weights": torch.ones(20_000)}, "last.pt")
        whole = open("last.pt", "rb").read()
        open("last.pt", "wb").write(whole[: len(whole) // 2])
        for step in train(6):
            pass
        print("restoring last.pt after a change of the learning rate", flush=True)
        torch.load("last.pt")
        """,
        user_script(
            why="a checkpoint that was cut off",
            also_types=("infrastructure", "framework"),
            also_components=("storage",),
            **raised(r"PytorchStreamReader failed|_pickle\.UnpicklingError|EOFError|^OSError: \[Errno 22\]"),
        ),
    ),
    _case(
        "unsafe_checkpoint",
        """
        import torch
        from loop import train


        class Options:
            pass


        torch.save({"options": Options()}, "base.pt")
        for step in train(4):
            pass
        torch.load("base.pt")
        """,
        user_script(
            why="a checkpoint that holds objects and is read with weights_only",
            also_types=("framework",),
            **raised(r"UnpicklingError: Weights only load failed"),
        ),
    ),
    _user(
        "state_dict_mismatch",
        "torch.nn.Linear(8, 4).load_state_dict(torch.nn.Linear(8, 5).state_dict())",
        r"RuntimeError: Error\(s\) in loading state_dict",
        "a checkpoint of another model",
        end=r"size mismatch for bias",
    ),
    _user(
        "shape_mismatch",
        "torch.ones(16, 7) @ torch.ones(8, 3)",
        r"RuntimeError: .*shapes cannot be multiplied",
        "two matrices do not fit",
    ),
    _user(
        "embedding_index",
        "torch.nn.Embedding(100, 8)(torch.tensor([3, 100]))",
        r"IndexError: index out of range in self",
        "a token outside the vocabulary",
    ),
    _user(
        "dtype_mismatch",
        "torch.nn.Linear(8, 4)(torch.ones(2, 8, dtype=torch.float64))",
        r"RuntimeError: .*dtype",
        "numbers of two precisions",
    ),
    _user(
        "backward_twice",
        "weight = torch.ones(3, requires_grad=True)\nloss = weight.pow(2).sum()\nloss.backward()\nloss.backward()",
        r"RuntimeError: Trying to backward through the graph a second time",
        "a graph is walked twice",
    ),
    _user(
        "in_place",
        "weight = torch.ones(3, requires_grad=True)\nhidden = weight.exp()\nhidden += 1\nhidden.sum().backward()",
        r"RuntimeError: one of the variables needed for gradient computation has been modified",
        "a tensor is changed in place before its gradient is taken",
    ),
    _user(
        "anomaly_nan",
        "with torch.autograd.detect_anomaly():\n"
        "    weight = torch.zeros(2, requires_grad=True)\n"
        "    (weight.sqrt() * 0).sum().backward()",
        r"RuntimeError: Function '\w+' returned nan values",
        "the gradient is not a number",
    ),
    _user(
        "host_memory",
        "torch.empty(2_000_000_000_000)",
        r"can't allocate memory",
        "a tensor of eight terabytes",
        also_types=("infrastructure",),
        also_components=("node",),
    ),
    _case(
        "no_driver",
        """
        import torch
        from loop import train

        model = torch.nn.Linear(8, 8)
        print("moving the model to the GPU", flush=True)
        model.cuda()
        """,
        _NO_DRIVER,
    ),
    _case(
        "no_driver_set_device",
        """
        import os

        import torch

        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
        from loop import train
        """,
        _NO_DRIVER,
    ),
    _case(
        "nccl_without_gpu",
        """
        import torch.distributed as dist
        from loop import train

        dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29731", rank=0, world_size=1)
        """,
        user_script(
            why="NCCL is asked for on a machine without GPUs",
            restartable=None,
            also_types=("infrastructure",),
            also_components=("gpu", "node"),
            **raised(
                r"^\S*Error: .*(no GPUs found|requires at least one CUDA device|NCCL.*GPU|Found no NVIDIA driver)"
            ),
        ),
    ),
    _case(
        "cuda_checkpoint_on_cpu",
        """
        import torch
        from loop import train

        torch.save({"weights": torch.ones(3)}, "base.pt")
        raw = torch.UntypedStorage
        for step in train(3):
            pass
        torch.serialization.default_restore_location(torch.UntypedStorage(8), "cuda:0")
        """,
        user_script(
            why="a checkpoint written on a GPU is read without one",
            also_types=("infrastructure",),
            also_components=("gpu", "node"),
            **raised(r"Attempting to deserialize object on a CUDA device"),
        ),
    ),
    _case(
        "unknown_operator",
        """
        import torch
        from loop import train

        for step in train(9):
            pass
        torch.ops.fused_kernels.rms_norm(torch.ones(4))
        """,
        framework(
            why="operators of an extension that was not loaded",
            also_types=("user_script",),
            **raised(r"AttributeError: '_OpNamespace'"),
        ),
    ),
]
