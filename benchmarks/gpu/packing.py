"""Two real training jobs on one GPU: what packing costs the first, what the pipeline makes of it, and how soon.

`python -m benchmarks.gpu.packing`. The log lines, scheduler events and NVML samples are real; broker and workers are those of the
single-process runtime. The truth is what the jobs measured of themselves.
"""

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from benchmarks.gpu.jobs import Job
from processors.settings import ProcessorSettings
from schedmate.assembly import job_processor
from schedmate_records import EventKind, JobEvent, JobMetric, LogChunk, Slowdown, decode
from scheduler_bridge import BridgeSettings
from scheduler_bridge.policies import propose
from streams.memory import MemoryBroker
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.transport import outgoing

NODE = "gpu-node"


class Pipeline:
    """The processors on a broker in memory; chunks of a job's new lines go in, what they say is kept."""

    def __init__(self) -> None:
        self.broker = MemoryBroker()
        self.worker = LocalWorker(self.broker, [Engine(job_processor(ProcessorSettings()))])
        self._sent: dict[str, int] = {}

    def ship(self, job: Job) -> None:
        """Send what `job` has printed since the last call, as one chunk."""
        sent = self._sent.get(job.name, 0)
        fresh = list(job.lines[sent:])
        if fresh:
            begin = fresh[0].time
            self.send(LogChunk(
                job=job.name, node=NODE, producer=job.name, seq=sent, first_line=sent + 1, first_piece=sent + 1, time=begin,
                lines=[each.text for each in fresh], after_ms=[round((each.time - begin) * 1000) for each in fresh],
            ))  # fmt: skip
        self._sent[job.name] = sent + len(fresh)

    def event(self, job: str, kind: EventKind, **said: Any) -> None:
        """Send an event of the scheduler."""
        now = time.time()
        self.send(
            JobEvent(
                id=f"gpu/{job}/{kind}/{now}", job=job, kind=kind, time=now, scheduler="local", nodes=[NODE], **said
            )
        )

    def send(self, record: LogChunk | JobEvent) -> None:
        """Send `record`, and let the workers do what follows."""
        self.broker.append(outgoing(record))
        while self.worker.step():
            pass

    def records(self, topic: str, kind: type[Any]) -> list[Any]:
        """Return all records of `topic`."""
        return [decode(kind, message.value) for partition in range(4) for message in self.broker.read(topic, partition)]


def main() -> None:
    """Run the jobs and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--seconds", type=float, default=25.0, help="of each of three phases: alone, packed, alone again"
    )
    parser.add_argument("--keep", type=Path, help="write lines and metrics here, as JSON lines")
    given = parser.parse_args()
    console, pipeline = Console(width=110), Pipeline()
    big = ["--width", "1024", "--layers", "12", "--batch", "32"]
    first = Job("first", [*big, "--seconds", str(3 * given.seconds + 20)])
    pipeline.event("first", EventKind.STARTED, gpus=1.0)
    first.wait_for_line("step 10 ")
    _ship(pipeline, first, given.seconds)
    second = Job("second", [*big, "--seconds", str(given.seconds)])
    packed = time.time()
    pipeline.event("first", EventKind.PACKED, packed_with="second")
    found_after = None
    until = time.monotonic() + given.seconds + 10
    while second.process.poll() is None and time.monotonic() < until:
        _ship(pipeline, first, 0.25)
        if found_after is None and pipeline.records("slowdowns", Slowdown):
            found_after = time.time() - packed
    second_said = second.wait()
    began, ended = second_said["times"][2][0], second_said["held"]
    pipeline.event("first", EventKind.UNPACKED, packed_with="second")
    said = first.wait()
    pipeline.ship(first)
    alone = [each for at, each in said["times"][3:] if at < packed - 0.5 or at > ended + 1.0]
    beside = [each for at, each in said["times"] if began < at < ended - 0.5]
    truth = statistics.median(alone) / statistics.median(beside)
    slowdowns = pipeline.records("slowdowns", Slowdown)
    alone_ms, beside_ms = statistics.median(alone) * 1000, statistics.median(beside) * 1000
    console.print(f"alone {alone_ms:.1f} ms a step, packed {beside_ms:.1f} ms: throughput {truth:.2f} of before")
    for each in slowdowns:
        console.print(
            f"found {found_after:.1f} s after the packing, {each.steps_after} steps later: {each.ratio:.2f} of before "
            f"(by the jobs' own clocks {truth:.2f})"
        )
        console.print(f"asks for: {[one.action.value for one in propose(each, BridgeSettings())]}")
    if not slowdowns:
        console.print("no slow-down was found")
    metrics = [each for each in pipeline.records("job-metrics", JobMetric) if each.job == "first" and each.step_time_s]
    console.print(
        f"{len(metrics)} measurements with a speed; the newest: {metrics[-1].step_time_s * 1000:.1f} ms a step"
    )
    if given.keep:
        with given.keep.open("w") as file:
            for job in (first, second):
                file.writelines(
                    msgspec.json.encode([job.name, line.time, line.text]).decode() + "\n" for line in job.lines
                )
            file.writelines(msgspec.json.encode(each).decode() + "\n" for each in [*metrics, *slowdowns])


def _ship(pipeline: Pipeline, job: Job, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.25)
        pipeline.ship(job)


if __name__ == "__main__":
    main()
