"""The jobs of the demo, each of which prints as another framework does: `python train.py NAME`.

A copy of this file is the jobs' program, so it imports the standard library alone. A job's steps and waits are real; its loss is made up.
"""

import fcntl
import json
import math
import os
import random
import resource
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

NODE, RANK = os.environ.get("LOCAL_NODE", ""), os.environ.get("RANK", "0")


def train(
    pace: float, every: int, steps: float = math.inf, *, begin: int = 0, heavy: bool = False
) -> Iterator[tuple[int, float, float]]:
    """Do steps of `pace` seconds. Yield at every `every`-th the step, its loss, and the mean seconds of the steps since the last report.

    Heavy steps take place on the device of the slot. Its jobs queue there, so that none takes two turns while another waits.
    """
    noise, reported, last = random.Random(RANK), time.monotonic(), time.monotonic()  # noqa: S311 - no secret
    queue, device = (
        (os.open(f"device-{NODE}{each}", os.O_RDWR | os.O_CREAT) for each in (".queue", "")) if heavy else (None, None)
    )
    step = begin
    while step < steps:
        if queue is not None and device is not None:
            fcntl.flock(queue, fcntl.LOCK_EX)
            fcntl.flock(device, fcntl.LOCK_EX)
            fcntl.flock(queue, fcntl.LOCK_UN)
            time.sleep(pace)
            fcntl.flock(device, fcntl.LOCK_UN)
        else:
            time.sleep(max(0.0, last + pace - time.monotonic()))
        last, step = time.monotonic(), step + 1
        if step % every == 0:
            yield step, 0.05 + math.exp(-step / 100) + noise.uniform(0.0, 0.01), (last - reported) / every
            reported = last


def save(file: Path, step: int) -> None:
    """Write a checkpoint. A crash leaves the one before."""
    part = file.with_suffix(".part")
    part.write_text(json.dumps({"step": step}))
    part.replace(file)


def load(file: Path) -> int:
    """Return the step of a checkpoint; 0 where there is none."""
    return int(json.loads(file.read_text())["step"]) if file.is_file() else 0


def is_due(job: str) -> bool:
    """Return whether the story has come to the fault of `job`: on a busy host a job may be far ahead of the others."""
    return Path(f"{job}.due").exists()


def report(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def bar() -> None:
    """Redraw one line on standard error, as `tqdm` does."""
    began, steps = time.monotonic(), 1500
    for step, loss, seconds in train(0.01, 2, steps, heavy=True):
        spans = (time.monotonic() - began, (steps - step) * seconds)
        times = "<".join(f"{int(span) // 60:02d}:{int(span) % 60:02d}" for span in spans)
        filled = f"{step / steps:4.0%}|{'█' * (10 * step // steps):<10}| {step}/{steps}"
        sys.stderr.write(f"\rtrain: {filled} [{times}, {1 / seconds:5.2f}it/s, loss={loss:.4f}]")
        sys.stderr.flush()
    sys.stderr.write("\n")


def jsonl() -> None:
    """Print a JSON object per report, with a time stamp and no speed. The demo ends it."""
    for step, loss, _ in train(0.03, 5):
        stamp = datetime.now(UTC).isoformat(timespec="milliseconds")
        report(json.dumps({"time": stamp, "step": step, "loss": round(loss, 5)}))


def pairs() -> None:
    """Print `key: value` pairs, and end by a bug: the score that it looks up was never computed."""
    scores: dict[str, float] = {}
    for step, loss, seconds in train(0.04, 4):
        scores["mse"] = loss
        report(f"step: {step}  loss: {loss:.4f}  step_time: {seconds:.4f} s")
        if step >= 180 and is_due("pairs"):
            report(f"evaluation at step {step}: best {scores['accuracy']:.3f}")


def ranks() -> None:
    """Print as Megatron does, on two ranks. Each goes on from its checkpoint when it is started again."""
    file, steps = Path(f"rank{RANK}.json"), 130
    for step, loss, seconds in train(0.1, 2, steps, begin=load(file), heavy=True):
        report(
            f" iteration {step:8d}/{steps:8d} | elapsed time per iteration (ms): {seconds * 1000:.1f} | lm loss: {loss:.6E} |"
        )
        if step % 10 == 0:
            save(file, step)


def saver() -> None:
    """Save checkpoints. The demo evicts it; then it resumes from the checkpoint that it is given."""
    given = os.environ.get("SCHEDMATE_CHECKPOINT", "")
    begin = load(Path(given))
    if begin:
        report(f"resuming from {given} at step {begin}")
    for step, loss, seconds in train(0.04, 5, 300 if begin else math.inf, begin=begin):
        report(f"step {step} | loss {loss:.4f} | step_time {seconds:.4f} s")
        if step % 40 == 0:
            file = Path.cwd() / f"saver-step{step}.pt"
            save(file, step)
            report(f"Saved checkpoint to {file}")


def table() -> None:
    """Print a table: a header per epoch, a row per report."""
    for step, loss, seconds in train(0.04, 3, 180):
        epoch, batch = divmod(step - 1, 60)
        if batch < 3:
            report(f"{'epoch':>6} {'batch':>6} {'loss':>8} {'s/batch':>8}")
        report(f"{epoch + 1:>6} {batch + 1:>6} {loss:8.4f} {seconds:8.4f}")


def trainer() -> None:
    """Print a Python dict per report, as a trainer class does. On its first start its GPU falls off the bus."""
    first, steps = os.environ["LOCAL_RESTART_COUNT"] == "0", 220
    for step, loss, seconds in train(0.05, 5, math.inf if first else steps):
        rate = round(5e-5 * max(0.0, 1 - step / steps), 9)
        values = {"loss": round(loss, 4), "learning_rate": rate, "epoch": round(step / 110, 2), "step": step}
        report(str({**values, "steps_per_second": round(1 / seconds, 3)}))
        if first and step >= 110 and is_due("trainer"):
            gpu_falls_off_the_bus()


def urgent() -> None:
    """Print `key=value` pairs."""
    for step, loss, seconds in train(0.03, 5, 200):
        report(f"step={step} loss={loss:.4f} steps_per_second={1 / seconds:.3f}")


def gpu_falls_off_the_bus() -> NoReturn:
    """Print what driver and NCCL print when a GPU falls off the bus, then die as PyTorch does."""
    pid, group = os.getpid(), "[PG ID 0 PG GUID 0(default_pg) Rank 0]"
    watchdog = "Process group watchdog thread terminated with exception: CUDA error: unknown error"
    lines = [
        f"[{time.monotonic():12.6f}] NVRM: Xid (PCI:0000:3b:00): 79, pid={pid}, name=python, GPU has fallen off the bus.",
        f"{NODE}:{pid}:{pid + 71} [0] NCCL WARN Cuda failure 999 'unknown error'",
        f"[rank0]:[E{time.strftime('%m%d %H:%M:%S')}.481027 ProcessGroupNCCL.cpp:1895] {group} {watchdog}",
        "terminate called after throwing an instance of 'c10::DistBackendError'",
        f"  what():  {group} NCCL error: unhandled cuda error",
    ]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core file in anyone's directory
    os.abort()


if __name__ == "__main__":
    jobs = (bar, jsonl, pairs, ranks, saver, table, trainer, urgent)
    {job.__name__: job for job in jobs}[sys.argv[1]]()
