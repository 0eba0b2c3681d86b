"""What people, jobs and Slurm do in the same moment as the bridge, on a real Slurm: `python -m benchmarks.chaos.races`.

Each race is one job, one decision and one interference at a random time around the act: its user cancels it, an operator requeues it
or requeues it in hold, it ends by itself, its node dies. Meanwhile slurmctld is restarted now and then. Several races run side by side;
what the death of a node does to the jobs of the others is told from slurmctld's log.
"""

import argparse
import contextlib
import logging
import random
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import structlog
from rich.console import Console
from rich.table import Table

from schedmate_records import Action, Decision, DecisionResult, Mode, Outcome, Record
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.act_keys import act_key, read_keys
from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator
from scheduler_bridge.schedulers.slurm.actuator.settings import SlurmSettings
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands, SlurmUnavailable
from tests.servers.dead_node import kill_node
from tests.servers.slurm import NODES, Slurm, running

Answer = TypeVar("Answer")

LANES = 4
TOLD_EVERY = 10
"""Races after which a line says how far it is; one that went wrong is told at once."""
WITHIN_S = 240.0
"""A race that takes longer counts as one that never ended."""
SLURMD_TIMEOUT_S = 10
"""Seconds until slurmctld takes a node that does not answer for dead."""
_DYING = threading.Lock()
"""One node dies at a time: the jobs must be able to run somewhere."""


class Interference(StrEnum):
    """What happens beside the act."""

    CANCEL = "its user cancels it"
    REQUEUE = "an operator requeues it"
    HOLD = "an operator requeues it in hold"
    ENDS = "it ends by itself"
    NODE = "its node dies"


JOBS = {
    Action.RESTART: ('test -n "$SLURM_RESTART_COUNT"', "FAILED"),
    Action.EVICT: ('test -n "$SLURM_RESTART_COUNT" || sleep {seconds}', "RUNNING"),
}


@dataclass(frozen=True)
class Race:
    """One race as it ended: what was decided, what came between, what was concluded, and what Slurm shows."""

    action: Action
    interference: Interference
    outcome: str
    state: str
    restarts: int
    held: bool
    noted: bool
    interfered: bool
    lost_nodes: int

    @property
    def wrong(self) -> str:
        """Return what must not be; empty for nothing."""
        by_people = self.interfered and self.interference in (Interference.REQUEUE, Interference.HOLD)
        cancelled = self.interfered and self.interference is Interference.CANCEL
        by_others = by_people + self.lost_nodes
        not_done = self.outcome in (Outcome.REFUSED, Outcome.FAILED)
        # Slurm counts a restart when a job is put back in the queue; one that is cancelled there never runs again.
        rules = {
            "started again too often": self.restarts > 1 + by_others,
            "done, and the bridge's key is not there": self.outcome == Outcome.DONE and not self.noted,
            "not done, as was said, and started again": not_done
            and self.restarts > by_others
            and self.state != "CANCELLED",
            "an operator's hold was undone": by_people
            and self.interference is Interference.HOLD
            and self.restarts == 1
            and not (self.noted or self.held),
            "left held": self.held and self.interference is not Interference.HOLD,
            "cancelled by its user, and it ran on": cancelled
            and self.action is Action.EVICT
            and self.state != "CANCELLED",
            "never concluded": not self.outcome,
        }
        return next((rule for rule, broken in rules.items() if broken), "")


def main() -> None:
    """Read the options, run, report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos.races", description=__doc__)
    parser.add_argument("--races", type=int, default=300, help="(%(default)s)")
    parser.add_argument("--controller", type=float, default=15.0, help="seconds between two restarts of slurmctld")
    parser.add_argument("--seed", type=int, default=1, help="of kinds and times (%(default)s)")
    kinds = [kind.name.lower() for kind in Interference]
    parser.add_argument("--only", choices=kinds, help="one kind of interference alone")
    given = parser.parse_args()
    between = [Interference[given.only.upper()]] if given.only else list(Interference)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    console = Console(width=160)
    races: list[Race] = []
    with (
        running(min_job_age=7200, slurmd_timeout=SLURMD_TIMEOUT_S) as slurm,
        restarting(slurm, given.controller) as times,
    ):
        try:
            for race in run(slurm, given.races, given.seed, between):
                races.append(race)
                if race.wrong or len(races) % TOLD_EVERY == 0:
                    wrong = (
                        f"{race.wrong}: {race}" if race.wrong else f"{sum(bool(each.wrong) for each in races)} wrong"
                    )
                    console.print(f"{len(races)} of {given.races} races, {wrong}", soft_wrap=True)
        except KeyboardInterrupt:
            console.print(f"interrupted after {len(races)} of {given.races} races")
    report(console, races, len(times))
    sys.exit(1 if any(race.wrong for race in races) or len(races) < given.races else 0)


def report(console: Console, races: Sequence[Race], restarts: int) -> None:
    """Print what became of the races."""
    table = Table("what", "figure", box=None, pad_edge=False)
    table.add_row("races", str(len(races)))
    table.add_row("times that slurmctld was restarted", str(restarts))
    for name, count in Counter(f"{race.action}, {race.interference}: {race.outcome}" for race in races).most_common():
        table.add_row(name, str(count))
    nodes = sum(race.interfered and race.interference is Interference.NODE for race in races)
    table.add_row("nodes that died", str(nodes))
    table.add_row("times that Slurm itself requeued a job for it", str(sum(race.lost_nodes for race in races)))
    wrong = [race for race in races if race.wrong]
    table.add_row("wrong or doubled", str(len(wrong)))
    for race in wrong[:10]:
        table.add_row(race.wrong, str(race))
    console.print(table)


@contextlib.contextmanager
def restarting(slurm: Slurm, seconds: float) -> Iterator[list[float]]:
    """Restart slurmctld every so many seconds, and yield when that was done."""
    over, times = threading.Event(), list[float]()

    def restart() -> None:
        while not over.wait(seconds):
            slurm.stop_controller()
            slurm.start_controller()
            times.append(time.time())

    thread = threading.Thread(target=restart)
    thread.start()
    try:
        yield times
    finally:
        over.set()
        thread.join()


def run(slurm: Slurm, races: int, seed: int, between: Sequence[Interference]) -> Iterator[Race]:
    """Run so many races, and yield each once it has ended. Those that have not begun when nobody listens any more never do."""
    lanes = ThreadPoolExecutor(LANES)
    chances = (random.Random(seed * 100_000 + number) for number in range(races))
    begun = [lanes.submit(_race, slurm, chance, between) for chance in chances]
    try:
        for race in as_completed(begun):
            yield race.result()
    finally:
        lanes.shutdown(cancel_futures=True)


def _race(slurm: Slurm, chance: random.Random, between: Sequence[Interference]) -> Race:
    action, interference = chance.choice(list(JOBS)), chance.choice(between)
    script, state = JOBS[action]
    seconds = chance.uniform(0.5, 2.0) if interference is Interference.ENDS else 60.0
    client = SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)}))
    job = _submitted(slurm, script.format(seconds=seconds), state)
    now = time.time()
    decision = Decision(
        id=f"{action}/{job}", action=action, job=job, time=now, expires=now + 600, mode=Mode.ACT, policy="p", reason="r"
    )
    results: list[DecisionResult] = []

    def publish(record: Record) -> None:
        if isinstance(record, DecisionResult):
            results.append(record)

    options = BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT), actions_per_hour=10**6, user_share=1.0)
    bridge = Bridge(SlurmActuator(client, SlurmSettings(settle=0.2, rest=1)), options, publish)
    bridge.accept(decision)
    done: list[bool] = []
    beside = threading.Thread(
        target=lambda: done.append(_interfere(slurm, job, interference, chance.uniform(0.0, 0.5)))
    )
    beside.start()
    until = time.monotonic() + WITHIN_S
    while bridge.open_decisions and time.monotonic() < until:
        bridge.advance()
        time.sleep(0.02)
    beside.join()
    seen = _at_rest(client, job, until)
    final = next((result.outcome.value for result in results if result.outcome.final), "")
    noted = act_key(decision) in read_keys(_asked(lambda: client.admin_comment(job), until))
    return Race(action, interference, final, *seen, noted, any(done), _lost_nodes(slurm, job))


def _submitted(slurm: Slurm, script: str, state: str) -> str:
    """Return a job in its first attempt; one that Slurm began on a dead node is in its second."""
    job = ""
    while True:
        with contextlib.suppress(AssertionError, KeyError):
            job = job or slurm.submit(script, "--output=/dev/null")
            if slurm.wait(job, state, "COMPLETED", seconds=60)["Restarts"] == "0":
                return job
            job = ""
        time.sleep(0.2)


def _interfere(slurm: Slurm, job: str, interference: Interference, delay: float) -> bool:
    """Return whether Slurm took the command."""
    time.sleep(delay)
    if interference is Interference.NODE:
        return _lose_node(slurm, job)
    command = {
        Interference.CANCEL: ("scancel", "--verbose", job),
        Interference.REQUEUE: ("scontrol", "requeue", job),
        Interference.HOLD: ("scontrol", "requeuehold", job),
    }.get(interference)
    if command is None:
        return False
    try:
        before = slurm.fields(job)
        said = slurm.run(*command)
    except (AssertionError, KeyError):
        return False
    # scancel says nothing of a job that is over, or that leaves its nodes to be requeued.
    return before["JobState"] in ("RUNNING", "PENDING") and "error" not in said if command[0] == "scancel" else True


def _lose_node(slurm: Slurm, job: str) -> bool:
    """Let the job's node die, wait until slurmctld knows, and bring it back. False where the job has none."""
    with _DYING, contextlib.suppress(AssertionError, KeyError):
        node = slurm.fields(job)["NodeList"]
        if node not in NODES:
            return False
        kill_node(slurm, node)
        try:
            until = time.monotonic() + 6 * SLURMD_TIMEOUT_S
            while "DOWN" not in slurm.run("scontrol", "show", "node", node, check=False) and time.monotonic() < until:
                time.sleep(0.2)
        finally:
            slurm.start_node(node)
        while "DOWN" in slurm.run("scontrol", "show", "node", node, check=False) and time.monotonic() < until:
            time.sleep(0.2)
        return True
    return False


def _lost_nodes(slurm: Slurm, job: str) -> int:
    """Return how often slurmctld put a job back in the queue because its node was gone, or did not start it."""
    log = (slurm.root / "log" / "slurmctld.log").read_text()
    return len(
        re.findall(rf"requeue (?:job JobId={job} due to failure of node|JobId={job} per user/system request)", log)
    )


def _at_rest(client: SlurmClient, job: str, until: float) -> tuple[str, int, bool]:
    """Return state, restarts and whether it is held, once the job is over or held."""
    while True:
        seen = _asked(lambda: client.job(job), until)
        if (
            seen.state in ("COMPLETED", "CANCELLED", "FAILED")
            or seen.held
            or seen.is_marked
            or time.monotonic() > until + 150
        ):
            return seen.state, seen.restarts, seen.held or seen.is_marked
        time.sleep(0.1)


def _asked(ask: Callable[[], Answer], until: float) -> Answer:
    """Ask again while slurmctld is away."""
    while True:
        try:
            return ask()
        except SlurmUnavailable:
            if time.monotonic() > until + 60:
                raise
            time.sleep(0.2)


if __name__ == "__main__":
    main()
