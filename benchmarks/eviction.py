"""Time from the submission of an urgent job to a full cluster, and from the decision to evict, until it runs in the place of the job that
loses least.

A real Slurm, a real Kafka, `schedmate bridge` as a process of its own. Six jobs hold the six GPUs, and one of them saves a
checkpoint; an urgent job is submitted; nobody else acts. There is no grace period: its length is the operator's.
"""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import command, waited
from records import Checkpoint, CheckpointState, Decision, decode
from streams.kafka import KafkaProducer, read_back
from streams.transport import outgoing
from tests.servers.kafka import Kafka
from tests.servers.slurm import Slurm, running

ROUNDS = 30
GPUS = 6
GPU = "--gres=shard:4"


def measure(kafka: Kafka, scratch: Path, rounds: int = ROUNDS) -> list[tuple[str, str]]:
    """Return (what, figure) rows."""
    with running() as slurm:
        environment = {
            **slurm.environment,
            "SCHEDMATE_KAFKA__BROKERS": kafka.address,
            "SCHEDMATE_BRIDGE__MODES": "evict=act",
            "SCHEDMATE_BRIDGE__EVICT_FOR": "partition=urgent",
            "SCHEDMATE_BRIDGE__EVICTABLE": "partition=p",
            "SCHEDMATE_BRIDGE__EVICT_WAIT_SECONDS": "0",
            "SCHEDMATE_BRIDGE__EVICT_GRACE_SECONDS": "0",
            "SCHEDMATE_BRIDGE__ACTIONS_PER_HOUR": "10000",
            "SCHEDMATE_BRIDGE__USER_SHARE": "1",
        }
        producer = KafkaProducer(kafka.connection)
        try:
            with command(scratch, environment, "bridge"):
                found = [_round(kafka, slurm, producer, number) for number in range(rounds + 1)][1:]
        finally:
            producer.close()
    seconds = [took for took, _, _ in found]
    named = [took for _, took, _ in found]
    right = sum(least for _, _, least in found)
    return [
        (f"urgent job submitted to a full cluster → it runs ({rounds} jobs)", _spread(seconds)),
        ("eviction named → the job evicted is gone and the urgent one runs", _spread(named)),
        ("it has the place of the job that loses least, and that alone left", f"{right} of {rounds}"),
    ]


def _round(kafka: Kafka, slurm: Slurm, producer: KafkaProducer, number: int) -> tuple[float, float, bool]:
    """Fill the cluster, submit an urgent job; return how long it waited, how long after the decision, and whether the right one left."""
    jobs = [slurm.submit("sleep 600", GPU, "--output=/dev/null") for _ in range(GPUS)]
    for job in jobs:
        slurm.wait(job, "RUNNING", seconds=60)
    least = jobs[number % GPUS]
    time.sleep(3.0)  # all have something to lose; then one saves
    producer.send(outgoing(_saved(least, time.time()))).result(10)
    time.sleep(1.0)  # the bridge looks at checkpoints four times a second
    began = time.time()
    urgent = slurm.submit("sleep 600", GPU, "--partition=urgent", "--output=/dev/null")
    waited(lambda: slurm.fields(urgent)["JobState"] == "RUNNING", 60)
    took = time.time() - began
    decided = [decode(Decision, message.value) for message in read_back(kafka.connection, ["decisions"], began)]
    right = [decision.job for decision in decided] == [least] and slurm.fields(least)["Restarts"] == "1"
    slurm.run("scancel", *jobs, urgent)
    waited(lambda: not slurm.run("squeue", "-h", "-o", "%i").strip(), 60)
    return took, began + took - decided[0].time, right


def _saved(job: str, since: float) -> Checkpoint:
    return Checkpoint(id=f"{job}/1", job=job, number=1, state=CheckpointState.DURABLE, time=since, since=since)


def _spread(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    worst = ordered[min(len(ordered) - 1, round(0.99 * len(ordered)))]
    return f"p50 {statistics.median(ordered):.2f} s, p99 {worst:.2f} s"
