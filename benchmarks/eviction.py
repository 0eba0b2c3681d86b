"""Time from the submission of an urgent job to a full cluster, and from the decision to evict, until it runs in the place of the job that
loses least.

A real scheduler, a real Kafka, `schedmate bridge` as a process of its own. Jobs hold all places, and one of them saves a checkpoint; an
urgent job is submitted; nobody else acts. There is no grace period: its length is the operator's.
"""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import command, waited
from benchmarks.schedulers import Site
from schedmate_records import Checkpoint, CheckpointState, Decision, DecisionResult, Outcome, decode
from streams.kafka import KafkaProducer, read_back
from streams.transport import outgoing
from tests.servers.kafka import Kafka

ROUNDS = 30


def measure(kafka: Kafka, scratch: Path, site: Site, rounds: int = ROUNDS) -> list[tuple[str, str]]:
    """Return (what, figure) rows."""
    environment = {
        **site.environment("bridge"),
        "SCHEDMATE_KAFKA__BROKERS": kafka.address,
        "SCHEDMATE_BRIDGE__MODES": "evict=act",
        "SCHEDMATE_BRIDGE__EVICT_FOR": site.urgent,
        "SCHEDMATE_BRIDGE__EVICTABLE": site.evictable,
        "SCHEDMATE_BRIDGE__EVICT_WAIT_SECONDS": "0",
        "SCHEDMATE_BRIDGE__EVICT_GRACE_SECONDS": "0",
        "SCHEDMATE_BRIDGE__ACTIONS_PER_HOUR": "10000",
        "SCHEDMATE_BRIDGE__USER_SHARE": "1",
    }
    producer = KafkaProducer(kafka.connection)
    try:
        with command(scratch, environment, "bridge"):
            found = [_round(kafka, site, producer, number) for number in range(rounds + 1)][1:]
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


def _round(kafka: Kafka, site: Site, producer: KafkaProducer, number: int) -> tuple[float, float, bool]:
    """Fill the cluster, submit an urgent job; return how long it waited, how long after the decision, and whether the right one left."""
    jobs = [site.occupy() for _ in range(site.places)]
    for job in jobs:
        waited(lambda job=job: site.place(job), 60)  # type: ignore[misc]
    least = jobs[number % len(jobs)]
    time.sleep(3.0)  # all have something to lose; then one saves
    producer.send(outgoing(_saved(least, time.time()))).result(10)
    time.sleep(1.0)  # the bridge looks at checkpoints four times a second
    began = time.time()
    urgent = site.occupy(urgent=True)
    waited(lambda: site.place(urgent), 60)
    took = time.time() - began
    waited(lambda: _is_done(kafka, began), 60)
    decided = [decode(Decision, message.value) for message in read_back(kafka.connection, ["decisions"], began)]
    right = [decision.job for decision in decided] == [least] and site.restarts(least) == 1
    right &= all(site.place(job) for job in jobs if job != least)
    site.end(*jobs, urgent)
    return took, began + took - decided[0].time, right


def _is_done(kafka: Kafka, since: float) -> bool:
    results = (decode(DecisionResult, one.value) for one in read_back(kafka.connection, ["decision-results"], since))
    return any(result.outcome is Outcome.DONE for result in results)


def _saved(job: str, since: float) -> Checkpoint:
    return Checkpoint(id=f"{job}/1", job=job, number=1, state=CheckpointState.DURABLE, time=since, since=since)


def _spread(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    worst = ordered[min(len(ordered) - 1, round(0.99 * len(ordered)))]
    return f"p50 {statistics.median(ordered):.2f} s, p99 {worst:.2f} s"
