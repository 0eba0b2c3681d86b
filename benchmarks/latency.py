"""Time from the print of the line that explains a failure to its verdict, and to Slurm's action.

Each round is a real Slurm job that prints through `schedmate pipe`, dies of an infrastructure failure, and is restarted by the bridge on
another node; in the last rounds the kernel log of its node, which a collector follows, says the same, and the node is drained, too. The
line carries the time at which it was printed; the verdict and the action carry the times at which Kafka took them.
"""

import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from benchmarks.processes import command, waited
from records import Action, DecisionResult, Failure, Outcome, decode
from streams.kafka import read_back
from tests.servers.kafka import Kafka
from tests.servers.slurm import Slurm, running

ROUNDS = 20

JOB = """
import os, sys, time
for step in range(1, 201):  # two seconds: the pipe ships by then
    print(f"step {step} | loss {10 / step:.4f} | step_time 0.01 s", flush=True)
    time.sleep(0.01)
if os.environ.get("SLURM_RESTART_COUNT", "0") == "0":
    line = f"NVRM: Xid (PCI:0000:3b:00): 79, pid={time.time_ns() // 1000}, GPU has fallen off the bus."
    print(line, flush=True)
    if sys.argv[1:]:
        with open(sys.argv[1], "a") as kernel:
            print(line, file=kernel)
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
            "SCHEDMATE_BRIDGE__MODES": "restart=act,drain=act",
            "SCHEDMATE_BRIDGE__ACTIONS_PER_HOUR": "1000",
            "SCHEDMATE_BRIDGE__ACTIONS_PER_NODE_HOUR": "1000",
            "SCHEDMATE_BRIDGE__USER_SHARE": "1",
            "SCHEDMATE_BRIDGE__MAX_DRAINED_SHARE": "0.5",
            "SCHEDMATE_BRIDGE__MIN_NODES_LEFT": "1",
            "SCHEDMATE_BRIDGE__NODE_COOLDOWN_SECONDS": "0",
        }
        with ExitStack() as commands:
            for line in (("worker",), ("bridge",), ("watch-scheduler", "slurm", "--interval", "0.2")):
                commands.enter_context(command(scratch, environment, *line))
            for node in slurm.nodes:
                log = _kernel_log(slurm, node)
                log.touch()
                follow = ("collect", "--node", node, "--node-log", str(log), "--checkpoint", f"{log}.read")
                commands.enter_context(command(scratch, environment, *follow))
            alone = [_round(kafka, slurm, environment) for _ in range(ROUNDS + 2)][2:]
            confirmed = [_round(kafka, slurm, environment, confirmed=True) for _ in range(ROUNDS + 1)][1:]
    return [
        (f"failure line printed → verdict on the topic ({ROUNDS} jobs)", _spread([each.verdict for each in alone])),
        (
            f"failure line printed → restarted by Slurm, verified ({ROUNDS} jobs)",
            _spread([each.acted for each in alone]),
        ),
        (
            f"the same with its node's word → restarted, and the node drained and idle, verified ({ROUNDS} jobs)",
            _spread([each.acted for each in confirmed]),
        ),
    ]


class Round(NamedTuple):
    """Seconds from the print of the line until its verdict was written, and until the last act was verified."""

    verdict: float
    acted: float


def _kernel_log(slurm: Slurm, node: str) -> Path:
    return slurm.directory / f"kern-{node}.log"


def _round(kafka: Kafka, slurm: Slurm, environment: dict[str, str], *, confirmed: bool = False) -> Round:
    """Run one job to its restart; where its node confirms the failure, to the drain of the node, which is undone then."""
    program = slurm.directory / "job.py"
    program.write_text(JOB)
    kept = ("SCHEDMATE_KAFKA__BROKERS", "SCHEDMATE_PRODUCER__DIRECTORY")
    exports = " ".join(f"{name}={environment[name]}" for name in kept)
    here = Path(__file__).resolve().parents[1]
    kernel = _kernel_log(slurm, "$SLURMD_NODENAME") if confirmed else ""
    piped = f"{sys.executable} -m schedmate pipe --node $SLURMD_NODENAME"
    script = f"cd {here} && {exports} exec {piped} -- {sys.executable} {program} {kernel}"
    began = time.time()
    job = slurm.submit(script, "--output=/dev/null", "--gres=shard:4")
    wanted = {Action.RESTART, Action.DRAIN} if confirmed else {Action.RESTART}
    try:
        acted = waited(lambda: _done(kafka, wanted, began), 120)
    finally:
        for node in slurm.nodes:
            slurm.run("scontrol", "update", f"NodeName={node}", "State=RESUME", "Comment=", check=False)
    printed, verdict = _verdict(kafka, job, began)
    return Round(verdict - printed, acted - printed)


def _done(kafka: Kafka, wanted: set[Action], since: float) -> float:
    """Return when the last of the acts was verified; 0 where one is still to be."""
    done = {}
    for message in read_back(kafka.connection, ["decision-results"], since):
        result = decode(DecisionResult, message.value)
        if result.outcome is Outcome.DONE:
            done[result.action] = message.time
    return max(done.values()) if wanted <= done.keys() else 0.0


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
