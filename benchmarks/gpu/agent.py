"""What the GPU agent sees and costs on a real GPU: a training step with and without it, and the states of a job as NVML tells them.

`python -m benchmarks.gpu.agent --record samples.jsonl.gz`
"""

import argparse
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.gpu.jobs import Job
from schedmate_records import GpuSample
from streams.producers.gpu.nvml import NvmlSource
from streams.producers.gpu.recording import RecordingWriter

ROUNDS = 6


class Sampler:
    """Samples in a thread while `every` is set."""

    def __init__(self, source: NvmlSource) -> None:
        self.source, self.every = source, 0.0
        self.samples: list[GpuSample] = []
        self.took: list[float] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            if self.every:
                began = time.thread_time()
                self.samples += self.source.sample()
                self.took.append(time.thread_time() - began)
            self._stop.wait(self.every or 0.05)

    def during(self, every: float, act: Callable[[], None]) -> list[GpuSample]:
        """Sample every `every` seconds while `act` runs (0: not at all); return the samples."""
        begin = len(self.samples)
        self.every = every
        act()
        self.every = 0.0
        return self.samples[begin:]

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, help="keep the samples of the states here")
    given = parser.parse_args()
    console = Console(width=140)
    source = NvmlSource("gpu-node")
    sampler = Sampler(source)
    console.print(_cost(sampler))
    table = Table(
        "a job that",
        "utilisation %",
        "memory utilisation %",
        "memory GB",
        "power W",
        "SM MHz",
        "throttling",
        title="what NVML tells of a job (medians)",
    )
    kept: list[GpuSample] = []
    for words, how, seconds in (("trains", "end", 8.0), ("holds the GPU and does nothing", "idle", 4.0),
                                ("waits in a kernel that never ends", "spin", 4.0), ("waits for data", "stall", 4.0)):  # fmt: skip
        job = Job(how, ["--seconds", str(seconds), "--then", how, "--hold", "10"])
        job.wait_for_line("step 20 ")
        samples = sampler.during(0.5, lambda: time.sleep(6 if how == "end" else 13))  # noqa: B023  # called at once
        held = job.wait()["held"]
        seen = [
            each for each in samples if (each.time < held - 0.5 if how == "end" else held + 2 < each.time < held + 9.5)
        ]
        kept += samples
        table.add_row(words, *_medians(seen))
    console.print(table)
    if given.record:
        writer = RecordingWriter(
            given.record, "a training job on one GPU: training, then idle, in an endless kernel, waiting for data"
        )
        writer.write(kept)
        writer.close()
    sampler.close()
    source.close()


def _cost(sampler: Sampler) -> Table:
    """Return how long a step takes without samples, with one a second, with ten a second, in turn."""
    job = Job("cost", ["--seconds", str(4 * 3 * ROUNDS * 0.5 + 20), "--every", "5", "--layers", "4", "--batch", "8"])
    job.wait_for_line("step 50 ")
    spans: dict[float, list[tuple[float, float]]] = {0.0: [], 1.0: [], 0.1: []}
    for _ in range(ROUNDS):
        for every, found in spans.items():
            began = time.time()
            sampler.during(every, lambda: time.sleep(2))
            found.append((began, time.time()))
    times = job.wait()["times"]
    table = Table(
        "samples", "ms a step (median)", "against none", "CPU ms a sample", title="the agent's cost to a training job"
    )
    usual = 0.0
    for every, found in spans.items():
        each = [seconds for at, seconds in times if any(a + 0.3 < at < b for a, b in found)]
        middle = statistics.median(each) * 1000
        usual = usual or middle
        name = "none" if not every else f"every {every:g} s"
        table.add_row(
            name,
            f"{middle:.3f}",
            f"{middle / usual - 1:+.2%}",
            "-" if not every else f"{statistics.median(sampler.took) * 1000:.2f}",
        )
    return table


def _medians(samples: list[GpuSample]) -> list[str]:
    def middle(values: list[float | int | None]) -> str:
        known = [each for each in values if each is not None]
        return f"{statistics.median(known):.4g}" if known else "-"

    reasons = sorted({reason for each in samples for reason in each.throttle_reasons or []})
    return [
        middle([each.utilisation for each in samples]),
        middle([each.memory_utilisation for each in samples]),
        middle([(each.memory_used_bytes or 0) / 1e9 for each in samples]),
        middle([each.power_watts for each in samples]),
        middle([each.sm_clock_mhz for each in samples]),
        ", ".join(reasons) or "-",
    ]


if __name__ == "__main__":
    main()
