"""Time from the print of the line that explains a failure to its verdict, and to what the scheduler does about it.

Each round is a job of a real scheduler whose output is shipped, and which dies of an infrastructure failure: the bridge restarts it on
another node. In the last rounds the kernel log of its node, which a collector follows, says the same, and the node is taken out of service,
too. The job keeps the time at which it printed the line; the verdict and the action carry the times at which Kafka took them. Each round
loses another GPU, so that its node says something new; what it said in the ten minutes before speaks against it still.
"""

import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from benchmarks.processes import command, waited
from benchmarks.schedulers import Site
from schedmate_records import Action, DecisionResult, Failure, Outcome, decode
from streams.kafka import read_back
from tests.servers.kafka import Kafka

ROUNDS = 20

JOB = """
import sys, time
for step in range(1, 201):  # two seconds: the output is being shipped by then
    print(f"step {step} | loss {10 / step:.4f} | step_time 0.01 s", flush=True)
    time.sleep(0.01)
mark, number, *logs = sys.argv[1:]
try:
    kept = open(mark, "x")
except FileExistsError:  # it was started again
    time.sleep(600)
line = f"NVRM: Xid (PCI:0000:{int(number):02x}:00): 79, pid=4242, GPU has fallen off the bus."
print(time.time(), file=kept, flush=True)
print(line, flush=True)
for log in logs:
    with open(log, "a") as kernel:
        print(line, file=kernel)
time.sleep(0.2)
sys.exit(1)
"""


class Round(NamedTuple):
    """Seconds from the print of the line until its verdict was written, the last act was verified, and the job ran on another node."""

    verdict: float
    acted: float
    ran: float


def measure(kafka: Kafka, scratch: Path, site: Site, rounds: int = ROUNDS) -> list[tuple[str, str]]:
    """Return (what, figure) rows."""
    settings = {
        "SCHEDMATE_KAFKA__BROKERS": kafka.address,
        "SCHEDMATE_PRODUCER__DIRECTORY": str(site.directory),
        "SCHEDMATE_BRIDGE__MODES": "restart=act,drain=act",
        "SCHEDMATE_BRIDGE__ACTIONS_PER_HOUR": "1000",
        "SCHEDMATE_BRIDGE__ACTIONS_PER_NODE_HOUR": "1000",
        "SCHEDMATE_BRIDGE__USER_SHARE": "1",
        "SCHEDMATE_BRIDGE__MAX_DRAINED_SHARE": "0.5",
        "SCHEDMATE_BRIDGE__MIN_NODES_LEFT": "1",
        "SCHEDMATE_BRIDGE__NODE_COOLDOWN_SECONDS": "0",
    }
    (site.directory / "job.py").write_text(JOB)
    for node in site.nodes:
        _kernel_log(site, node).touch()
    collectors = [site.collect(node, _kernel_log(site, node)) for node in site.nodes]
    with ExitStack() as commands:
        for line in (("worker",), ("bridge",), site.watcher, *collectors):
            commands.enter_context(command(scratch, {**site.environment(line[0]), **settings}, *line))
        alone = [_round(kafka, site, number) for number in range(rounds + 2)][2:]
        confirmed = [_round(kafka, site, number, confirmed=True) for number in range(rounds + 1)][1:]
    return [
        (f"failure line printed → verdict on the topic ({rounds} jobs)", _spread([each.verdict for each in alone])),
        ("failure line printed → restarted, verified", _spread([each.acted for each in alone])),
        ("failure line printed → it runs on another node", _spread([each.ran for each in alone])),
        (
            f"the same with its node's word → the node empty and out of service, the job on another ({rounds} jobs)",
            _spread([max(each.acted, each.ran) for each in confirmed]),
        ),
    ]


def _kernel_log(site: Site, node: str) -> Path:
    return site.directory / f"kern-{node}.log"


def _round(kafka: Kafka, site: Site, number: int, *, confirmed: bool = False) -> Round:
    """Run one job to its restart; where its node confirms the failure, to the drain of the node, which is undone then."""
    mark = site.directory / f"ran-{confirmed}-{number}"
    kernel = [str(_kernel_log(site, "{node}"))] if confirmed else []
    began = time.time()
    job = site.train(kafka.address, site.directory / "job.py", str(mark), str(number), *kernel)
    wanted = {Action.RESTART, Action.DRAIN} if confirmed else {Action.RESTART}
    try:
        first = waited(lambda: site.place(job), 60)
        ran = waited(lambda: time.time() if site.place(job) not in ("", first) else 0.0, 120)
        acted = waited(lambda: _done(kafka, wanted, began), 120)
    finally:
        site.end(job)
        site.return_nodes()
    printed = float(mark.read_text())
    return Round(_verdict(kafka, job, printed) - printed, acted - printed, ran - printed)


def _done(kafka: Kafka, wanted: set[Action], since: float) -> float:
    """Return when the last of the acts was verified; 0 where one is still to be."""
    done = {}
    for message in read_back(kafka.connection, ["decision-results"], since):
        result = decode(DecisionResult, message.value)
        if result.outcome is Outcome.DONE:
            done[result.action] = message.time
    return max(done.values()) if wanted <= done.keys() else 0.0


def _verdict(kafka: Kafka, job: str, since: float) -> float:
    """Return when the first verdict on a job was written that names the line."""
    for message in read_back(kafka.connection, ["failures"], since):
        failure = decode(Failure, message.value)
        if failure.job == job and failure.root and "Xid" in failure.root.text:
            return message.time
    raise AssertionError(f"no verdict on job {job}")


def _spread(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    return f"p50 {statistics.median(ordered):.2f} s, p99 {ordered[min(len(ordered) - 1, round(0.99 * len(ordered)))]:.2f} s"
