"""Time from the print of the line that explains a failure to its verdict, and to Slurm's action.

Each round is a real Slurm job that prints through `schedmate pipe`, dies of an infrastructure failure, and is restarted by the bridge on
another node. The line carries the time at which it was printed; the verdict and the action carry the times at which Kafka took them.
"""

import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import command, waited
from records import DecisionResult, Failure, Outcome, decode
from streams.kafka import read_back
from tests.servers.kafka import Kafka
from tests.servers.slurm import Slurm, running

ROUNDS = 20

JOB = """
import os, sys, time
for step in range(1, 31):
    print(f"step {step} | loss {10 / step:.4f} | step_time 0.01 s", flush=True)
    time.sleep(0.01)
if os.environ.get("SLURM_RESTART_COUNT", "0") == "0":
    print(f"NVRM: Xid (PCI:0000:3b:00): 79, pid={time.time_ns() // 1000}, GPU has fallen off the bus.", flush=True)
    time.sleep(0.2)
    sys.exit(1)
"""


def measure(kafka: Kafka, scratch: Path) -> list[tuple[str, str]]:
    """Return (what, figure) rows."""
    with running() as slurm:
        environment = {
            **slurm.environment,
            "SCHEDMATE_KAFKA__BROKERS": kafka.address,
            "SCHEDMATE_PRODUCER__DIRECTORY": str(slurm.directory),
            "SCHEDMATE_BRIDGE__MODES": "restart=act",
            "SCHEDMATE_BRIDGE__ACTIONS_PER_HOUR": "1000",
            "SCHEDMATE_BRIDGE__ACTIONS_PER_NODE_HOUR": "1000",
            "SCHEDMATE_BRIDGE__USER_SHARE": "1",
        }
        watcher = ("watch-scheduler", "slurm", "--interval", "0.2")
        with (
            command(scratch, environment, "worker"),
            command(scratch, environment, "bridge"),
            command(scratch, environment, *watcher),
        ):
            printed = [_round(kafka, slurm, environment) for _ in range(ROUNDS + 2)][2:]
    verdicts = [verdict - line for line, verdict, _ in printed]
    actions = [action - line for line, _, action in printed]
    return [
        (f"failure line printed → verdict on the topic ({ROUNDS} jobs)", _spread(verdicts)),
        (f"failure line printed → restarted by Slurm, verified ({ROUNDS} jobs)", _spread(actions)),
    ]


def _round(kafka: Kafka, slurm: Slurm, environment: dict[str, str]) -> tuple[float, float, float]:
    """Run one job to its restart; return when its line was printed, its verdict written, and its restart verified."""
    program = slurm.directory / "job.py"
    program.write_text(JOB)
    kept = ("SCHEDMATE_KAFKA__BROKERS", "SCHEDMATE_PRODUCER__DIRECTORY")
    exports = " ".join(f"{name}={environment[name]}" for name in kept)
    here = Path(__file__).resolve().parents[1]
    script = f"cd {here} && {exports} exec {sys.executable} -m schedmate pipe --node $SLURMD_NODENAME -- {sys.executable} {program}"
    began = time.time()
    job = slurm.submit(script, "--output=/dev/null", "--gres=shard:4")
    action = waited(lambda: _restarted(kafka, job, began), 120)
    printed, verdict = _verdict(kafka, job, began)
    return printed, verdict, action


def _restarted(kafka: Kafka, job: str, since: float) -> float | None:
    for message in read_back(kafka.connection, ["decision-results"], since):
        result = decode(DecisionResult, message.value)
        if result.job == job and result.outcome is Outcome.DONE:
            return message.time
    return None


def _verdict(kafka: Kafka, job: str, since: float) -> tuple[float, float]:
    """Return when the line was printed and when the first verdict on it was written."""
    for message in read_back(kafka.connection, ["failures"], since):
        failure = decode(Failure, message.value)
        if failure.job == job and failure.root and "pid=" in failure.root.text:
            return int(failure.root.text.split("pid=")[1].split(",")[0]) / 1e6, message.time
    raise AssertionError(f"no verdict on job {job}")


def _spread(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    return f"p50 {statistics.median(ordered):.2f} s, p99 {ordered[min(len(ordered) - 1, round(0.99 * len(ordered)))]:.2f} s"
