"""Kernels that go wrong on the device, or do not compile."""

from benchmarks.corpus.failures.case import Case, framework, raised, user_script

from .program import TRAINER, at_step, case, cpp

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
    return at_step(name, _LAUNCH.format(shift=shift), truth, before=_KERNEL % statement)


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


_INDEX = (
    'table = torch.nn.Embedding(100, 8).to("cuda")\nprint(table(torch.tensor([5, 100], device="cuda")).sum().item())'
)


_ASSERTION = {"root": r"Assertion `.*` failed", "end": r"device-side assert triggered"}


_ASSERTED = user_script(
    why="an index beyond the embedding's rows, checked on the device", also_types=("framework",), **_ASSERTION
)


CASES = [
    at_step("embedding_index", _INDEX, _ASSERTED),
    at_step("embedding_index_blocking", _INDEX, _ASSERTED, "CUDA_LAUNCH_BLOCKING=1 python train.py"),
    at_step(
        "class_beyond_logits",
        """
        logits = torch.randn(64, 10, device="cuda", requires_grad=True)
        torch.nn.functional.cross_entropy(logits, torch.full((64,), 10, device="cuda")).backward()
        torch.cuda.synchronize()
        """,
        user_script(why="a label that is no class", also_types=("framework",), **_ASSERTION),
    ),
    case(
        "trainer_label",
        TRAINER.format(fault="ids[5] = 1000 if index % 500 == 77 else ids[5]"),
        user_script(why="a token beyond the vocabulary", also_types=("framework",), **_ASSERTION),
    ),
    case(
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
    at_step(
        "launch_too_large",
        'values = torch.ones(8, device="cuda")\nkernel((1,), (4096,), (values.data_ptr(), 0))',
        user_script(
            why="more threads a block than a GPU has",
            also_types=("framework",),
            **raised(r"CUDA_ERROR_INVALID_VALUE|invalid argument|invalid configuration"),
        ),
        before=_KERNEL % "values[place] = 1.0f;",
    ),
    at_step(
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
    at_step(
        "triton_shared_memory",
        'x = torch.ones(1 << 20, device="cuda")\nadd[(1,)](x, torch.empty_like(x), SIZE=256)\ntorch.cuda.synchronize()',
        user_script(
            why="a block needs more shared memory than there is",
            also_types=("framework",),
            **raised(r"OutOfResources: out of resource|exceeds triton maximum"),
        ),
        before=_TRITON % "tl.dot(left, left)",
    ),
    at_step(
        "triton_compile",
        'x = torch.ones(1 << 12, device="cuda")\nadd[(1,)](x, torch.empty_like(x), SIZE=48)',
        user_script(
            why="a block whose size is no power of two",
            also_types=("framework",),
            **(raised(r"ValueError: arange's range must be a power of 2") | {"end": r"CompilationError"}),
        ),
        before=_TRITON % "left + 1",
    ),
    cpp(
        "cpp_illegal_address",
        "if (place < count) weights[place + (1LL << 40)] = 1.0f;",
        user_script(
            r"CUDA error at fit\.cu:\d+: an illegal memory access",
            "a program in C++ writes where nothing is",
            also_types=("infrastructure",),
        ),
    ),
    cpp(
        "cpp_device_assert",
        "assert(count == 0 || place < 1000);",
        user_script(
            why="a program in C++ checks a place on the device",
            **_ASSERTION,
        ),
    ),
    cpp(
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
    at_step(
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
]
