"""Failures on a real GPU: its memory, kernels that go wrong, libraries that refuse, and runs that only look as if they had failed."""

from . import devices, healthy, kernels, libraries, memory

CASES = [*memory.CASES, *kernels.CASES, *devices.CASES, *libraries.CASES, *healthy.CASES]
