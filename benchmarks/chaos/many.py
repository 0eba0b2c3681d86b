"""Many short jobs on a real Slurm, watched, and restarted where they fail: `python -m benchmarks.chaos.many`.

The watcher must tell of each attempt's start and end once, the bridge must start each job that failed again once, and none else.
"""

import argparse
import logging
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from rich.console import Console
from rich.table import Table

from schedmate_records import Action, Decision, DecisionResult, EventKind, JobEvent, Mode, Record, decision_id, decode
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator, SlurmSettings
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands, SlurmJob
from scheduler_bridge.schedulers.slurm.events.watcher import SlurmWatcher
from streams.transport import Outgoing
from tests.servers.slurm import NODES, Slurm, running

LIMIT_S = 900.0
SCRIPT = 'sleep {seconds}; test -n "$SLURM_RESTART_COUNT" || exit {code}'


class Told:
    """A producer that keeps the events that it is given."""

    def __init__(self) -> None:
        self.events: list[JobEvent] = []

    def connect(self) -> "Told":
        """Return itself."""
        return self

    def send(self, message: Outgoing) -> "Future[None]":
        """Keep an event, and acknowledge it."""
        assert message.value
        self.events.append(decode(JobEvent, message.value))
        future: Future[None] = Future()
        future.set_result(None)
        return future

    def flush(self, timeout: float) -> None:
        """Do nothing: all is there."""

    def close(self) -> None:
        """Do nothing."""


@dataclass
class Found:
    """What was seen.

    Attributes:
        failing: By job: whether its first attempt fails.
        most: Jobs that ran at a time.
        seconds: Time until all was over.
        events: How often each was told, by job, attempt and kind.
        done: How often the bridge says that it acted, by job.
        jobs: Slurm's own list at the end.
    """

    failing: dict[str, bool] = field(default_factory=dict)
    most: int = 0
    seconds: float = 0.0
    events: Counter[tuple[str, int, EventKind]] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    jobs: dict[str, SlurmJob] = field(default_factory=dict)

    def wrong(self) -> dict[str, list[str]]:
        """Return what must not be, by kind; lists of jobs."""
        kinds = (EventKind.STARTED, EventKind.ENDED)
        expected = {
            (job, attempt, kind)
            for job, fails in self.failing.items()
            for attempt in range(1 + fails)
            for kind in kinds
        }
        told = {event: count for event, count in self.events.items() if event[2] in kinds}
        return {
            "starts or ends not told": sorted({job for job, _, _ in expected - told.keys()}),
            "starts or ends told that were none": sorted({job for job, _, _ in told.keys() - expected}),
            "starts or ends told twice": sorted({event[0] for event, count in told.items() if count > 1}),
            "acted other than once on a job that failed": [
                job
                for job, fails in self.failing.items()
                if self.done[job] != fails or self.jobs[job].restarts != fails
            ],
            "not completed": [job for job in self.failing if self.jobs[job].state != "COMPLETED"],
        }


def main() -> None:
    """Read the options, run, report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos.many", description=__doc__)
    parser.add_argument("--jobs", type=int, default=500, help="(%(default)s)")
    parser.add_argument("--at-a-time", type=int, default=100, help="(%(default)s)")
    parser.add_argument("--fails", type=int, default=10, help="one of so many fails once (%(default)s)")
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    console = Console(width=120)
    cpus = -(-given.at_a_time // len(NODES))
    with console.status("jobs"), running(min_job_age=7200, cpus=cpus) as slurm:
        found = run(slurm, given.jobs, given.fails)
    table = Table("what", "figure", box=None, pad_edge=False)
    table.add_row("jobs", str(len(found.failing)))
    table.add_row("of them at a time, at most", str(found.most))
    table.add_row("that failed once and were restarted", str(sum(found.failing.values())))
    table.add_row("events told", str(found.events.total()))
    table.add_row("seconds", f"{found.seconds:.0f}")
    for name, jobs in found.wrong().items():
        table.add_row(name, f"{len(jobs)} {', '.join(jobs[:5])}".rstrip())
    console.print(table)
    sys.exit(1 if any(found.wrong().values()) else 0)


def run(slurm: Slurm, jobs: int, fails: int, seconds: float = 10.0) -> Found:
    """Submit so many jobs, each of which runs for some seconds, and return what was seen of them once all is over."""
    commands = SlurmCommands({"SLURM_CONF": str(slurm.configuration)}, timeout_s=30)
    client = SlurmClient(commands)
    told, found, stop = Told(), Found(), threading.Event()
    results: list[DecisionResult] = []

    def publish(record: Record) -> None:
        if isinstance(record, DecisionResult):
            results.append(record)

    options = BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT), actions_per_hour=10**6, user_share=1.0)
    bridge = Bridge(SlurmActuator(client, SlurmSettings(settle=0.2)), options, publish)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="many-") as scratch:
        watcher = SlurmWatcher(told.connect, Path(scratch) / "events.json", SlurmClient(commands))
        watching = threading.Thread(target=watcher.run, args=(stop, 0.5))
        watching.start()
        for number in range(jobs):
            failing = number % fails == 0
            job = slurm.submit(SCRIPT.format(seconds=seconds, code=int(failing)), "--output=/dev/null")
            found.failing[job] = failing
        read = 0
        wanted = jobs + sum(found.failing.values())
        while _ends(told.events) < wanted and time.monotonic() < began + LIMIT_S:
            while read < len(told.events):
                event, read = told.events[read], read + 1
                bridge.accept(event)
                if event.kind is EventKind.ENDED and event.state == "FAILED" and event.attempt == 0:
                    bridge.accept(_decision(event))
            bridge.advance()
            found.most = max(found.most, sum(job.state == "RUNNING" for job in client.jobs().values()))
            time.sleep(0.2)
        stop.wait(2)  # time for an event too many
        stop.set()
        watching.join()
        watcher.close()
    found.seconds = time.monotonic() - began
    found.events = Counter((event.job, event.attempt, event.kind) for event in told.events)
    found.done = Counter(result.job for result in results if result.outcome == "done")
    found.jobs = client.jobs()
    return found


def _ends(events: list[JobEvent]) -> int:
    """Return how many attempts are told to be over."""
    return sum(event.kind is EventKind.ENDED for event in events)


def _decision(event: JobEvent) -> Decision:
    return Decision(
        id=decision_id(Action.RESTART, event.job, event.attempt, "many"),
        action=Action.RESTART,
        job=event.job,
        attempt=event.attempt,
        time=event.time,
        expires=event.time + 3600,
        mode=Mode.ACT,
        policy="many",
        reason="it failed",
        cause="many",
        exclude_nodes=event.nodes[:1],
    )


if __name__ == "__main__":
    main()
