"""A bridge that is killed at random while decisions pass, on a real Kafka and a real Slurm: `python -m benchmarks.chaos.bridge`.

Each decision is about a job of its own. What Slurm says of the jobs at the end (how often each was started, whether it is held)
shows what was done twice or not at all; the topic `decision-results` must hold one final result of each decision. With
`--controller N`, slurmctld is restarted N times meanwhile.
"""

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from benchmarks.chaos.services import Service
from schedmate_records import Action, Decision, DecisionResult, Mode, Outcome, decision_id
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands, SlurmJob
from streams.accept import accept
from streams.kafka import KafkaFollower, KafkaProducer
from streams.transport import outgoing
from tests.servers.kafka import start_kafka
from tests.servers.slurm import Slurm, running

Answer = TypeVar("Answer")

AHEAD = 6
"""Decisions that are open at a time."""
QUIET_S = 120.0
"""Nothing for so long: the rest will not come."""

FAILS_ONCE = 'test -n "$SLURM_RESTART_COUNT"'
RUNS_ONCE = 'test -n "$SLURM_RESTART_COUNT" || sleep 3600'
RUNS = "sleep 3600"
KINDS = {Action.RESTART: (FAILS_ONCE, "FAILED"), Action.EVICT: (RUNS_ONCE, "RUNNING"), Action.CANCEL: (RUNS, "RUNNING")}
SHARES = (Action.RESTART, Action.RESTART, Action.RESTART, Action.RESTART, Action.EVICT, Action.CANCEL)


@dataclass(frozen=True)
class Options:
    """Decisions that pass, times that bridge and slurmctld are ended, and the seed of kinds and times."""

    decisions: int = 500
    kills: int = 200
    controller: int = 0
    seed: int = 1


@dataclass
class Stand:
    """The servers, the bridge, and what was seen.

    Attributes:
        slurm: The cluster.
        bridge: The command that is killed.
        follower: Reads results.
        decisions: By job.
        results: Final results, by decision.
        seen: Results of any kind.
        kills: Times that the bridge was killed.
        restarts: Times that slurmctld was restarted.
    """

    slurm: Slurm
    bridge: Service
    follower: KafkaFollower
    decisions: dict[str, Decision] = field(default_factory=dict)
    results: dict[str, list[DecisionResult]] = field(default_factory=dict)
    seen: int = 0
    kills: int = 0
    restarts: int = 0

    def look(self) -> None:
        """Take in the results that are new."""
        for message in self.follower.new():
            result = accept(message)
            assert isinstance(result, DecisionResult)
            self.seen += 1
            if result.outcome.final:
                known = self.results.setdefault(result.decision_id, [])
                if result.id not in {each.id for each in known}:  # a result that is written twice is the same result
                    known.append(result)

    @property
    def open(self) -> int:
        """Decisions without a final result."""
        return len(self.decisions) - len(self.results)


def main() -> None:
    """Read the options, run, report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos.bridge", description=__doc__)
    parser.add_argument(
        "--kills", type=int, default=Options.kills, help="times that the bridge is killed (%(default)s)"
    )
    parser.add_argument("--decisions", type=int, default=Options.decisions, help="decisions that pass (%(default)s)")
    parser.add_argument(
        "--controller", type=int, default=Options.controller, help="times that slurmctld is restarted (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=Options.seed, help="of kinds and times (%(default)s)")
    given = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(prefix="chaos-") as scratch, console.status("") as status:
        options = Options(given.decisions, given.kills, given.controller, given.seed)
        rows, holds = run(Path(scratch), options, status.update)
    table = Table("what", "figure", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    sys.exit(0 if holds else 1)


def run(
    scratch: Path, options: Options, say: Callable[[str], object] = lambda _: None
) -> tuple[list[tuple[str, str]], bool]:
    """Let decisions pass while the bridge is killed; return what was found, and whether it is as it must be."""
    kafka = start_kafka(scratch)
    try:
        kafka.create_topics()
        with running(min_job_age=7200) as slurm:
            environment = {
                **slurm.environment,
                "SCHEDMATE_KAFKA__BROKERS": kafka.address,
                "SCHEDMATE_KAFKA__SESSION_TIMEOUT_S": "1",
                "SCHEDMATE_BRIDGE__MODES": "restart=act,evict=act,cancel=act",
                "SCHEDMATE_BRIDGE__ACTIONS_PER_HOUR": "1000000",
                "SCHEDMATE_BRIDGE__USER_SHARE": "1",
            }
            command = ["bridge"]
            stand = Stand(
                slurm,
                Service("bridge", command, environment, scratch / "bridge.log"),
                KafkaFollower(kafka.connection, ["decision-results"]),
            )
            producer = KafkaProducer(kafka.connection)
            stand.bridge.start()
            over = threading.Event()
            restarts = threading.Thread(target=_restart_controller, args=(stand, options, over))
            restarts.start()
            try:
                _pass(stand, producer, options, say)
            finally:
                over.set()
                restarts.join()
                stand.bridge.stop()
                producer.close()
                stand.follower.close()
            jobs = SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)})).jobs()
            return _report(stand, jobs)
    finally:
        kafka.kill()


def _pass(stand: Stand, producer: KafkaProducer, options: Options, say: Callable[[str], object]) -> None:
    """Keep some decisions open until all were made and settled; kill the bridge now and then, in the middle of its work."""
    chance = random.Random(options.seed)
    wanted, kills = options.decisions, options.kills
    before, kill_at, moved = 0, None, time.monotonic()
    while (len(stand.decisions) < wanted or stand.open) and time.monotonic() < moved + QUIET_S:
        while len(stand.decisions) < wanted and stand.open < AHEAD:
            decision = _decision(stand.slurm, chance)
            stand.decisions[decision.job] = decision
            producer.send(outgoing(decision)).result(30)
        seen = stand.seen
        stand.bridge.check()
        stand.look()
        moved = time.monotonic() if stand.seen > seen else moved
        # The kills that are left are spread over the decisions that are left.
        due = stand.kills < kills and len(stand.results) * kills >= stand.kills * wanted
        if kill_at is None and due and stand.seen > before:
            kill_at = time.monotonic() + chance.uniform(0.0, 1.0)
        if kill_at is not None and time.monotonic() >= kill_at:
            stand.bridge.kill()
            stand.kills, kill_at = stand.kills + 1, None
            stand.look()
            before = stand.seen
            stand.bridge.start()
        say(f"{len(stand.results)} of {wanted} decisions settled, {stand.kills} of {kills} kills")
        time.sleep(0.02)


def _decision(slurm: Slurm, chance: random.Random) -> Decision:
    """Submit a job, wait until it is where the decision wants it, and decide."""
    action = chance.choice(SHARES)
    script, state = KINDS[action]
    job = _patient(lambda: slurm.submit(script, "--output=/dev/null"))
    fields = _patient(lambda: slurm.wait(job, state, seconds=60))
    now = time.time()
    return Decision(
        id=decision_id(action, job, 0, "chaos"),
        action=action,
        job=job,
        time=now,
        expires=now + 3600,
        mode=Mode.ACT,
        policy="chaos",
        reason="chaos",
        cause="chaos",
        exclude_nodes=[fields["NodeList"]] if action is Action.RESTART else [],
    )


def _patient(ask: Callable[[], Answer]) -> Answer:
    """Ask Slurm again while its controller is away."""
    deadline = time.monotonic() + 120
    while True:
        try:
            return ask()
        except AssertionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _restart_controller(stand: Stand, options: Options, over: threading.Event) -> None:
    chance = random.Random(options.seed + 1)
    while stand.restarts < options.controller and not over.wait(chance.uniform(8.0, 15.0)):
        stand.slurm.stop_controller()
        over.wait(chance.uniform(0.0, 3.0))
        stand.slurm.start_controller()
        stand.restarts += 1


def _report(stand: Stand, jobs: dict[str, SlurmJob]) -> tuple[list[tuple[str, str]], bool]:
    """Compare what Slurm shows with what was decided."""
    twice, lost, held = [], [], []
    for job, decision in stand.decisions.items():
        seen = jobs.get(job)
        acts = 0 if seen is None else seen.restarts
        if decision.action is Action.CANCEL:
            acts += seen is not None and seen.state == "CANCELLED"
        twice += [job] * (acts > 1)
        lost += [job] * (acts < 1)
        held += [job] * (seen is not None and (seen.held or seen.is_marked))
    final = [result for results in stand.results.values() for result in results]
    outcomes = Counter(result.outcome.value for result in final)
    several = [key for key, results in stand.results.items() if len(results) > 1]
    unsettled = [decision.id for decision in stand.decisions.values() if decision.id not in stand.results]
    rows = [
        ("decisions", str(len(stand.decisions))),
        ("times that the bridge was killed", str(stand.kills)),
        ("times that the bridge ended by itself", str(len(stand.bridge.ended))),
        ("times that slurmctld was restarted", str(stand.restarts)),
        ("acts done twice", _listed(twice)),
        ("acts lost", _listed(lost)),
        ("jobs left held", _listed(held)),
        ("decisions without a final result", _listed(unsettled)),
        ("decisions with several final results", _listed(several)),
        ("outcomes", ", ".join(f"{name} {count}" for name, count in outcomes.most_common())),
        *[(f"not done: {each.decision_id}", each.detail) for each in final if each.outcome is not Outcome.DONE][:10],
    ]
    return rows, not (twice or lost or held or unsettled or several)


def _listed(found: list[str]) -> str:
    return f"{len(found)}" + (f": {', '.join(found[:5])}" if found else "")


if __name__ == "__main__":
    main()
