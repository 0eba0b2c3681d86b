"""Failures on a real GPU: its memory, kernels that go wrong, libraries that refuse, and runs that only look as if they had failed."""

from textwrap import dedent
from typing import Any

from benchmarks.corpus.failures.case import Case, Truth, framework, infrastructure, raised, user_script


def _case(
    name: str,
    program: str,
    truth: Truth | None,
    run: str = "python train.py",
    *,
    seconds: float = 120,
    **files: str,
) -> Case:
    """Return a case of a program in Python; `files` are others, by their names with `_` for the dot."""
    others = {each.replace("_", "."): dedent(text).lstrip() for each, text in files.items()}
    return Case(name, run, truth, {"train.py": dedent(program).lstrip(), **others}, environment="cuda", seconds=seconds)


def _at_step(name: str, body: str, truth: Truth | None, run: str = "python train.py", *, before: str = "") -> Case:
    """Return a case in which `body` fails at a step of the loop; `before` stands above the loop."""
    lines = dedent(body).strip().replace("\n", "\n                    ")
    above = dedent(before).strip().replace("\n", "\n            ")
    program = f"""
            import torch
            from loop import train

            {above}

            for step in train():
                if step == 5017:
                    {lines}
            """
    return _case(name, program, truth, run)


def _out_of_memory(root: str, why: str, **more: Any) -> Truth:
    return user_script(why=why, **(raised(root) | more))


_OOM = r"OutOfMemoryError: CUDA out of memory"
_KERNEL = """
import cupy
kernel = cupy.RawKernel(r'''
extern "C" __global__ void scale(float* values, long long shift) {
    long long place = blockIdx.x * (long long)blockDim.x + threadIdx.x + shift;
    %s
}
''', "scale")
"""
_LAUNCH = """
values = torch.ones(1 << 20, device="cuda")
kernel((4096,), (256,), (values.data_ptr(), {shift}))
print(values.sum().item())
"""


def _kernel(name: str, statement: str, message: str, why: str, shift: str = "0") -> Case:
    """Return a case of a hand-written kernel that goes wrong on the device."""
    truth = user_script(why=why, also_types=("framework", "infrastructure"), **raised(message))
    return _at_step(name, _LAUNCH.format(shift=shift), truth, before=_KERNEL % statement)


_TRITON = """
import triton
import triton.language as tl

@triton.jit
def add(x, out, SIZE: tl.constexpr):
    rows = tl.arange(0, SIZE)
    block = rows[:, None] * SIZE + rows[None, :]
    left = tl.load(x + block)
    tl.store(out + block, %s)
"""
_JAX = "XLA_PYTHON_CLIENT_PREALLOCATE=false python train.py"
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
_OTHER_PROCESS = """
python -c "
import time
import torch
held = torch.empty(int(torch.cuda.mem_get_info()[0] * 0.9), dtype=torch.uint8, device='cuda')
open('held', 'w').close()
time.sleep(90)
" &
while [ ! -e held ]; do sleep 0.2; done
python train.py
code=$?
kill %1
exit $code
"""
_LIGHTNING = """
import lightning as L
import torch
from lightning.pytorch.plugins.environments import LightningEnvironment


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 1)

    def training_step(self, batch, index):
        loss = self.layer(batch[0]).pow(2).mean()
        if index == 40:
            torch.empty(1 << 38, device=self.device)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)


data = torch.utils.data.TensorDataset(torch.randn(4000, 64))
trainer = L.Trainer(
    max_epochs=2, accelerator="gpu", devices=1, enable_checkpointing=False, logger=False,
    plugins=[LightningEnvironment()],
)
trainer.fit(Net(), torch.utils.data.DataLoader(data, batch_size=32))
"""
_TRAINER = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=2, n_embd=64, vocab_size=1000))


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        ids = torch.arange(64) % 1000
        {fault}
        return dict(input_ids=ids, labels=ids)


options = TrainingArguments("out", per_device_train_batch_size=16, logging_steps=5, max_steps=200, report_to=[], save_strategy="no")
Trainer(model, options, train_dataset=Rows()).train()
"""
_CPP = r"""
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                  \
  do {                                                                                                               \
    cudaError_t err = (call);                                                                                        \
    if (err != cudaSuccess) {                                                                                        \
      fprintf(stderr, "CUDA error at %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));                     \
      exit(EXIT_FAILURE);                                                                                            \
    }                                                                                                                \
  } while (0)

__global__ void update(float* weights, int count) {
  int place = blockIdx.x * blockDim.x + threadIdx.x;
  BODY
}

int main() {
  float* weights;
  int count = 1 << 20;
  CHECK(cudaMalloc(&weights, SIZE));
  for (int step = 1; step <= 30; ++step) {
    update<<<(count + 255) / 256, 256>>>(weights, step == 25 ? count : 0);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    printf("step %d/1000 loss %.4f 1.25 ms/step\n", step, 2.0 / step);
    fflush(stdout);
  }
  printf("done\n");
}
"""


_THRUST = r"""
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>

int main() {
  for (int step = 1; step <= 30; ++step) {
    thrust::device_vector<float> loss(step == 25 ? 100ULL << 30 : 1000, 2.0f / step);
    printf("step %d/1000 loss %.4f 1.25 ms/step\n", step, thrust::reduce(loss.begin(), loss.begin() + 1000) / 1000);
    fflush(stdout);
  }
}
"""


def _cpp(name: str, body: str, truth: Truth, size: str = "count * sizeof(float)", flags: str = "-arch=native") -> Case:
    source = _CPP.replace("BODY", body).replace("SIZE", size)
    run = f"/usr/local/cuda/bin/nvcc {flags} -o fit fit.cu && ./fit"
    return Case(name, run, truth, {"fit.cu": source.lstrip()}, environment="cuda", seconds=120)


_INDEX = (
    'table = torch.nn.Embedding(100, 8).to("cuda")\nprint(table(torch.tensor([5, 100], device="cuda")).sum().item())'
)
_ASSERTION = {"root": r"Assertion `.*` failed", "end": r"device-side assert triggered"}
_ASSERTED = user_script(
    why="an index beyond the embedding's rows, checked on the device", also_types=("framework",), **_ASSERTION
)
_NO_DEVICE = {"also_types": ("infrastructure",), "also_components": ("gpu", "node"), "restartable": None}

CASES = [
    _at_step(
        "oom_one_tensor",
        'held = torch.empty(1 << 38, dtype=torch.uint8, device="cuda")',
        _out_of_memory(_OOM, "a tensor of 256 GiB"),
    ),
    _case(
        "oom_leak",
        """
        import torch
        from loop import train

        held = []
        for step in train():
            held.append(torch.empty(5 << 30, dtype=torch.uint8, device="cuda"))
        """,
        _out_of_memory(_OOM, "tensors are kept at every step"),
    ),
    _at_step(
        "oom_backward",
        """
        rows = torch.randn(60_000, 60_000, device="cuda", requires_grad=True)
        (rows.sin().cos().exp() * rows).tanh().sum().backward()
        """,
        _out_of_memory(_OOM, "the graph of a batch does not fit"),
    ),
    _case(
        "oom_beside_another",
        """
        import torch
        from loop import train

        for step in train():
            if step == 5009:
                torch.empty(30 << 30, dtype=torch.uint8, device="cuda")
        """,
        _out_of_memory(
            _OOM,
            "another process holds nine tenths of the GPU",
            also_types=("infrastructure", "other"),
            also_components=("gpu", "node"),
            restartable=None,
        ),
        _OTHER_PROCESS,
    ),
    _at_step(
        "oom_fraction",
        """
        torch.cuda.set_per_process_memory_fraction(0.05)
        torch.empty(8 << 30, dtype=torch.uint8, device="cuda")
        """,
        _out_of_memory(_OOM, "the process was allowed a twentieth of the memory"),
    ),
    _case(
        "oom_lightning",
        _LIGHTNING,
        _out_of_memory(_OOM, "a tensor of 256 GiB in a step"),
    ),
    _case(
        "mpi_without_shell",
        _LIGHTNING.replace("[LightningEnvironment()]", "[]"),
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
    _at_step(
        "oom_cupy",
        "import cupy\nheld = cupy.zeros(1 << 38, dtype=cupy.uint8)",
        _out_of_memory(r"OutOfMemoryError: Out of memory allocating", "an array of 256 GiB"),
    ),
    _at_step(
        "oom_jax",
        "import jax.numpy as jnp\nheld = jnp.ones((1 << 19, 1 << 18), jnp.float32).block_until_ready()",
        _out_of_memory(r"RESOURCE_EXHAUSTED", "an array of half a terabyte", begin=r"^Traceback|Allocator"),
        _JAX,
    ),
    _at_step(
        "cublas_without_memory",
        """
        import cupy
        left = torch.randn(64, 64, device="cuda")
        free = torch.cuda.mem_get_info()[0]
        held = cupy.cuda.runtime.malloc(free - (3 << 20))
        print((left @ left).sum().item())
        """,
        user_script(
            why="nothing is left for the library's handle",
            also_types=("framework", "infrastructure"),
            **raised(r"CUBLAS_STATUS_\w+|OutOfMemoryError|CUDA error"),
        ),
    ),
    _at_step("embedding_index", _INDEX, _ASSERTED),
    _at_step("embedding_index_blocking", _INDEX, _ASSERTED, "CUDA_LAUNCH_BLOCKING=1 python train.py"),
    _at_step(
        "class_beyond_logits",
        """
        logits = torch.randn(64, 10, device="cuda", requires_grad=True)
        torch.nn.functional.cross_entropy(logits, torch.full((64,), 10, device="cuda")).backward()
        torch.cuda.synchronize()
        """,
        user_script(why="a label that is no class", also_types=("framework",), **_ASSERTION),
    ),
    _kernel(
        "illegal_address",
        "((float*)(place * 4096))[0] = 1.0f;",
        r"an illegal memory access|ILLEGAL_ADDRESS",
        "a kernel writes where nothing is",
        shift="1 << 44",
    ),
    _kernel(
        "misaligned_address",
        "*(float*)((char*)(values + place) + 1) = 1.0f;",
        r"misaligned address|MISALIGNED_ADDRESS",
        "a kernel writes beside a word",
    ),
    _kernel(
        "trap",
        'if (place == 77) asm("trap;");',
        r"unspecified launch failure|LAUNCH_FAILED|illegal instruction",
        "a kernel traps",
    ),
    _kernel(
        "device_assert",
        'if (place == 77) { printf("bad value at %lld\\n", place); __trap(); }',
        r"unspecified launch failure|LAUNCH_FAILED|illegal instruction",
        "a kernel finds a bad value, says so and traps",
    ),
    _at_step(
        "launch_too_large",
        'values = torch.ones(8, device="cuda")\nkernel((1,), (4096,), (values.data_ptr(), 0))',
        user_script(
            why="more threads a block than a GPU has",
            also_types=("framework",),
            **raised(r"CUDA_ERROR_INVALID_VALUE|invalid argument|invalid configuration"),
        ),
        before=_KERNEL % "values[place] = 1.0f;",
    ),
    _at_step(
        "kernel_does_not_compile",
        _LAUNCH.format(shift="0"),
        user_script(
            r"NVRTC_ERROR_COMPILATION|error: identifier .* is undefined",
            "a kernel with a name that is not there",
            begin=r"^Traceback",
            end=r"CompileException|errors? detected",
        ),
        before=_KERNEL % "value[place] = 1.0f;",
    ),
    _at_step(
        "triton_shared_memory",
        'x = torch.ones(1 << 20, device="cuda")\nadd[(1,)](x, torch.empty_like(x), SIZE=256)\ntorch.cuda.synchronize()',
        user_script(
            why="a block needs more shared memory than there is",
            also_types=("framework",),
            **raised(r"OutOfResources: out of resource|exceeds triton maximum"),
        ),
        before=_TRITON % "tl.dot(left, left)",
    ),
    _at_step(
        "triton_compile",
        'x = torch.ones(1 << 12, device="cuda")\nadd[(1,)](x, torch.empty_like(x), SIZE=48)',
        user_script(
            why="a block whose size is no power of two",
            also_types=("framework",),
            **(raised(r"ValueError: arange's range must be a power of 2") | {"end": r"CompilationError"}),
        ),
        before=_TRITON % "left + 1",
    ),
    _at_step(
        "two_devices",
        'print((torch.ones(4, device="cuda") + torch.ones(4)).sum())',
        user_script(
            why="tensors on two devices", **raised(r"RuntimeError: Expected all tensors to be on the same device")
        ),
    ),
    _at_step(
        "attention_without_kernel",
        """
        from torch.nn.attention import SDPBackend, sdpa_kernel
        query = torch.randn(2, 4, 64, 32, device="cuda")
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            torch.nn.functional.scaled_dot_product_attention(query, query, query)
        """,
        user_script(
            why="flash attention of 32 bits",
            also_types=("framework",),
            **raised(r"RuntimeError: No available kernel"),
        ),
    ),
    _at_step(
        "graph_capture",
        """
        graph, values = torch.cuda.CUDAGraph(), torch.ones(8, device="cuda")
        with torch.cuda.graph(graph):
            print(values.sum().item())
        """,
        user_script(
            why="a value is asked for while a graph is captured",
            also_types=("framework",),
            **raised(r"not permitted when stream is capturing|capture"),
        ),
    ),
    _at_step(
        "not_positive",
        'torch.linalg.cholesky(-torch.eye(4, device="cuda"))',
        user_script(why="a matrix that is not positive definite", **raised(r"LinAlgError")),
    ),
    _at_step(
        "loss_not_finite",
        """
        loss = (torch.zeros(8, device="cuda", requires_grad=True) / 0).sum()
        if not torch.isfinite(loss):
            raise FloatingPointError(f"loss is {loss.item()} at step {step}, stopping training")
        """,
        user_script(why="a loss that is no number", **raised(r"FloatingPointError: loss is nan")),
    ),
    _at_step(
        "jax_nan",
        'import jax, jax.numpy as jnp\njax.config.update("jax_debug_nans", True)\nprint(jax.jit(jnp.log)(jnp.float32(-1.0)))',
        user_script(why="a logarithm that is no number", **raised(r"FloatingPointError: invalid value")),
        _JAX,
    ),
    _case(
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
    _case(
        "spawned_assert",
        """
        import torch
        import torch.multiprocessing as mp
        from loop import train


        def work(rank):
            for step in train():
                if step == 5012 and rank == 1:
                    table = torch.nn.Embedding(100, 8).to("cuda")
                    print(table(torch.tensor([100], device="cuda")).sum().item())


        if __name__ == "__main__":
            mp.spawn(work, nprocs=2)
        """,
        user_script(
            why="an index beyond the embedding's rows, in one of two processes", also_types=("framework",), **_ASSERTION
        ),
    ),
    _case(
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
    _case(
        "ordinal_beyond",
        _TWO_RANKS.format(device="rank"),
        user_script(
            why="a second rank where there is one GPU",
            **(_NO_DEVICE | raised(r"invalid device ordinal")),
        ),
        _TORCHRUN,
    ),
    _at_step(
        "no_visible_device",
        'print(torch.ones(2).to("cuda"))',
        user_script(
            why="the job may see no GPU", **(_NO_DEVICE | raised(r"No CUDA GPUs are available|no CUDA-capable device"))
        ),
        "CUDA_VISIBLE_DEVICES=7 python train.py",
    ),
    _at_step(
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
    _at_step(
        "checkpoint_of_second_gpu",
        'torch.save(torch.ones(4, device="cuda"), "last.pt")\ntorch.load("last.pt", map_location="cuda:1")',
        user_script(
            why="a checkpoint is put on a GPU that is not there",
            also_types=("framework",),
            **raised(r"Attempting to deserialize object on CUDA device 1|invalid device ordinal"),
        ),
    ),
    _at_step(
        "extension_does_not_build",
        """
        from torch.utils.cpp_extension import load_inline
        load_inline("fused", cpp_sources="torch::Tensor fused(torch::Tensor x);", functions=["fused"], cuda_sources='''
        #include <torch/extension.h>
        torch::Tensor fused(torch::Tensor x) { return x.scaled(2) }
        ''')
        """,
        user_script(
            r"error: ",
            "an extension with a wrong method and without a semicolon",
            begin=r"^Traceback",
            end=r"ninja: build stopped",
            also_types=("framework",),
        ),
        "CUDA_HOME=/usr/local/cuda python train.py",
    ),
    _at_step(
        "compiled_step",
        """
        @torch.compile
        def fused(x, y):
            return torch.nn.functional.linear(x, y).relu()
        fused(torch.randn(8, 16, device="cuda"), torch.randn(4, 15, device="cuda"))
        """,
        user_script(
            r"must have same reduction dim|shapes cannot be multiplied",
            "shapes that do not fit, in a compiled function",
            begin=r"Traceback",
            end=r"must have same reduction dim",
            also_types=("framework",),
            repeated=True,
        ),
    ),
    _at_step(
        "host_pinned_memory",
        "held = torch.empty(1 << 44, dtype=torch.uint8, pin_memory=True)",
        user_script(
            why="sixteen terabytes of pinned host memory",
            restartable=None,
            also_types=("infrastructure",),
            also_components=("node", "gpu"),
            **raised(r"out of memory|OutOfMemory|can't allocate|CUDA error|RuntimeError"),
        ),
    ),
    _at_step(
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
    _case(
        "trainer_label",
        _TRAINER.format(fault="ids[5] = 1000 if index % 500 == 77 else ids[5]"),
        user_script(why="a token beyond the vocabulary", also_types=("framework",), **_ASSERTION),
    ),
    _cpp(
        "cpp_illegal_address",
        "if (place < count) weights[place + (1LL << 40)] = 1.0f;",
        user_script(
            r"CUDA error at fit\.cu:\d+: an illegal memory access",
            "a program in C++ writes where nothing is",
            also_types=("infrastructure",),
        ),
    ),
    _cpp(
        "cpp_device_assert",
        "assert(count == 0 || place < 1000);",
        user_script(
            why="a program in C++ checks a place on the device",
            **_ASSERTION,
        ),
    ),
    _cpp(
        "cpp_out_of_memory",
        "if (place < count) weights[place] = 1.0f;",
        user_script(r"CUDA error at fit\.cu:\d+: out of memory", "a program in C++ asks for 400 GiB"),
        size="400ULL << 30",
    ),
    _cpp(
        "cpp_other_architecture",
        "if (place < count) weights[place] = 1.0f;",
        framework(
            r"no kernel image is available",
            "a program that was built for another GPU alone",
            also_types=("user_script", "infrastructure"),
            also_components=("gpu", "node"),
        ),
        flags="-gencode arch=compute_80,code=sm_80",
    ),
    _case(
        "healthy_oom_retried",
        """
        import torch
        from loop import train

        size = 1 << 38
        for step in train():
            if step == 5005:
                while True:
                    try:
                        torch.empty(size, dtype=torch.uint8, device="cuda")
                        break
                    except torch.cuda.OutOfMemoryError as error:
                        print(f"WARNING: {error}", flush=True)
                        print(f"batch does not fit, halving it to {size // 2}", flush=True)
                        size //= 2
        print("training finished")
        """,
        None,
    ),
    _case(
        "healthy_autotune",
        """
        import torch
        from loop import train


        @torch.compile(mode="max-autotune-no-cudagraphs")
        def fused(x, y):
            return (x @ y).relu()


        for step in train():
            if step == 5005:
                fused(torch.randn(1024, 1024, device="cuda"), torch.randn(1024, 1024, device="cuda"))
        print("training finished")
        """,
        None,
        seconds=200,
    ),
    _case(
        "healthy_scaler",
        """
        import logging

        import torch
        from loop import train

        logging.basicConfig(level=logging.INFO)
        weight = torch.nn.Parameter(torch.ones(8, device="cuda"))
        optimizer, scaler = torch.optim.SGD([weight], 0.1), torch.amp.GradScaler("cuda", init_scale=2.0**40)
        for step in train():
            with torch.autocast("cuda"):
                loss = (weight * weight).sum() * (float("inf") if step % 4 == 0 else 1.0)
            before = scaler.get_scale()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            if scaler.get_scale() < before:
                logging.warning("gradient overflow: inf or nan found, skipping step %d, loss scale %g", step, scaler.get_scale())
        logging.info("done")
        """,
        None,
    ),
    _case("healthy_trainer", _TRAINER.format(fault="pass"), None),
    _at_step(
        "numba_with_newer_numpy",
        """
        values = cuda.to_device(np.ones(1 << 16))
        scatter[256, 256](values, 1 << 44)
        """,
        framework(why="Numba asks for what this NumPy has no more", **raised(r"has no attribute 'row_stack'")),
        before="""
        import numpy as np
        from numba import cuda

        @cuda.jit
        def scatter(values, shift):
            place = cuda.grid(1)
            values[place + shift] = 1.0
        """,
    ),
    Case(
        "thrust_out_of_memory",
        "/usr/local/cuda/bin/nvcc -arch=native -o fit fit.cu && ./fit",
        user_script(
            r"bad_alloc|out of memory",
            "a vector of 400 GiB in C++",
            begin=r"terminate called",
            end=r"out of memory",
            also_types=("framework",),
        ),
        {"fit.cu": _THRUST.lstrip()},
        environment="cuda",
        seconds=150,
    ),
    _at_step(
        "fft_of_half",
        'torch.fft.fft(torch.ones(60, dtype=torch.half, device="cuda"))',
        user_script(
            why="a transform that half precision cannot do", also_types=("framework",), **raised(r"RuntimeError: cuFFT")
        ),
    ),
    _at_step(
        "anomaly_on_gpu",
        """
        torch.autograd.set_detect_anomaly(True)
        weight = torch.zeros(8, device="cuda", requires_grad=True)
        torch.sqrt(weight * 0).sum().backward()
        """,
        user_script(why="a gradient that is no number", **raised(r"RuntimeError: Function .* returned nan values")),
    ),
    _at_step(
        "shapes_on_gpu",
        'torch.nn.Linear(32, 8).cuda()(torch.randn(4, 31, device="cuda"))',
        user_script(why="rows of the wrong width", **raised(r"shapes cannot be multiplied")),
    ),
    _case(
        "lightning_two_devices",
        _LIGHTNING.replace("devices=1", "devices=2"),
        user_script(
            why="two GPUs are asked for where there is one",
            **(_NO_DEVICE | raised(r"MisconfigurationException: You requested gpu")),
        ),
    ),
    _at_step(
        "unscaled_half",
        """
        weight = torch.nn.Parameter(torch.ones(8, device="cuda", dtype=torch.half))
        optimizer, scaler = torch.optim.SGD([weight], 0.1), torch.amp.GradScaler("cuda")
        scaler.scale((weight * 2).sum()).backward()
        scaler.step(optimizer)
        """,
        user_script(
            why="weights of half precision under a scaler",
            also_types=("framework",),
            **raised(r"ValueError: Attempting to unscale"),
        ),
    ),
    _case(
        "jax_beside_another",
        """
        import jax.numpy as jnp
        from loop import train

        for step in train():
            if step == 5010:
                print((jnp.ones((40_000, 40_000)) @ jnp.ones((40_000, 40_000))).sum().block_until_ready())
        """,
        user_script(
            why="another process holds nine tenths of the GPU",
            restartable=None,
            also_types=("infrastructure", "other", "framework"),
            also_components=("gpu", "node"),
            root=r"RESOURCE_EXHAUSTED|[Oo]ut of memory",
            repeated=True,
        ),
        _OTHER_PROCESS,
    ),
    _at_step(
        "jax_shapes",
        "import jax, jax.numpy as jnp\nprint(jax.jit(lambda a, b: a @ b)(jnp.ones((4, 31)), jnp.ones((32, 8))))",
        user_script(
            why="shapes that do not fit, in a compiled function", **raised(r"^(jax\..*)?TypeError: dot_general")
        ),
        _JAX,
    ),
    _case(
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
    _at_step(
        "healthy_swallowed",
        "import jax.numpy as jnp\nheld = jnp.ones((1 << 19, 1 << 18), jnp.float32)",
        None,
        _JAX,
    ),
    _case(
        "healthy_fallback",
        """
        import traceback

        import torch
        from loop import train

        try:
            import flash_attn
        except ImportError:
            traceback.print_exc()
            print("flash_attn is not installed, falling back to scaled_dot_product_attention", flush=True)
        query = torch.randn(2, 4, 64, 32, device="cuda")
        for step in train():
            torch.nn.functional.scaled_dot_product_attention(query, query, query)
        print("done")
        """,
        None,
    ),
    _case(
        "healthy_smaller_batch",
        """
        import torch
        from accelerate.utils import find_executable_batch_size
        from loop import train


        @find_executable_batch_size(starting_batch_size=1 << 16)
        def fit(batch_size):
            print(f"trying batch size {batch_size}", flush=True)
            torch.empty(batch_size << 22, dtype=torch.uint8, device="cuda")
            for step in train():
                pass


        fit()
        """,
        None,
    ),
]
