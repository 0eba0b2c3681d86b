"""The jobs that the end-to-end test submits: small programs, written to files."""

from pathlib import Path

STEADY = '''
"""Trains for ever on one core: real work, its own clock, a report a step."""
import os, time
os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
weight = 1.0
for step in range(1, 100000):
    began = time.perf_counter()
    for _ in range(60000):
        weight = weight * 0.999999 + 1e-6
    took = time.perf_counter() - began
    print(f"step {step} | loss {10 / step:.5f} | step_time {took:.5f} s", flush=True)
'''

GREEDY = '''
"""Takes most of the same core, with four processes, and prints little."""
import os, signal
os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
print("warming up", flush=True)
for _ in range(4):
    if os.fork() == 0:
        os.setsid()  # the kernel shares a core out among sessions first: in one session four would take no more than one
        while True:
            sum(range(10000))
signal.pause()
'''

FAULTY = '''
"""Its GPU falls off the bus the first time; the second time all is well."""
import os, sys, time
for step in range(1, 41):
    print(f"step {step} | loss {10 / step:.5f} | step_time 0.02000 s", flush=True)
    time.sleep(0.02)
if os.environ.get("SLURM_RESTART_COUNT", "0") == "0":
    print("NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus.", flush=True)
    print("RuntimeError: CUDA error: unspecified launch failure", file=sys.stderr, flush=True)
    sys.exit(1)
print("training finished", flush=True)
'''

BUGGY = '''
"""Dies of its own bug."""
import time
def load(index):
    return [1, 2, 3][index]
for step in range(1, 21):
    print(f"step {step} | loss {10 / step:.5f} | step_time 0.02000 s", flush=True)
    time.sleep(0.02)
load(7)
'''


def write(directory: Path) -> dict[str, Path]:
    """Write the programs and return their paths."""
    directory.mkdir(exist_ok=True)
    paths = {}
    for name, text in {"steady": STEADY, "greedy": GREEDY, "faulty": FAULTY, "buggy": BUGGY}.items():
        paths[name] = directory / f"{name}.py"
        paths[name].write_text(text)
    return paths
