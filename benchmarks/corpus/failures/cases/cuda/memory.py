"""Memory that is not there: of the GPU, beside another process, in every library."""

from typing import Any

from benchmarks.corpus.failures.case import Case, Truth, raised, user_script

from .program import JAX, LIGHTNING, at_step, case, cpp


def _out_of_memory(root: str, why: str, **more: Any) -> Truth:
    return user_script(why=why, **(raised(root) | more))


_OOM = r"OutOfMemoryError: CUDA out of memory"


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


CASES = [
    at_step(
        "oom_one_tensor",
        'held = torch.empty(1 << 38, dtype=torch.uint8, device="cuda")',
        _out_of_memory(_OOM, "a tensor of 256 GiB"),
    ),
    case(
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
    at_step(
        "oom_backward",
        """
        rows = torch.randn(60_000, 60_000, device="cuda", requires_grad=True)
        (rows.sin().cos().exp() * rows).tanh().sum().backward()
        """,
        _out_of_memory(_OOM, "the graph of a batch does not fit"),
    ),
    case(
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
    at_step(
        "oom_fraction",
        """
        torch.cuda.set_per_process_memory_fraction(0.05)
        torch.empty(8 << 30, dtype=torch.uint8, device="cuda")
        """,
        _out_of_memory(_OOM, "the process was allowed a twentieth of the memory"),
    ),
    case(
        "oom_lightning",
        LIGHTNING,
        _out_of_memory(_OOM, "a tensor of 256 GiB in a step"),
    ),
    at_step(
        "oom_cupy",
        "import cupy\nheld = cupy.zeros(1 << 38, dtype=cupy.uint8)",
        _out_of_memory(r"OutOfMemoryError: Out of memory allocating", "an array of 256 GiB"),
    ),
    at_step(
        "oom_jax",
        "import jax.numpy as jnp\nheld = jnp.ones((1 << 19, 1 << 18), jnp.float32).block_until_ready()",
        _out_of_memory(r"RESOURCE_EXHAUSTED", "an array of half a terabyte", begin=r"^Traceback|Allocator"),
        JAX,
    ),
    at_step(
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
    at_step(
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
    cpp(
        "cpp_out_of_memory",
        "if (place < count) weights[place] = 1.0f;",
        user_script(r"CUDA error at fit\.cu:\d+: out of memory", "a program in C++ asks for 400 GiB"),
        size="400ULL << 30",
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
    case(
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
]
