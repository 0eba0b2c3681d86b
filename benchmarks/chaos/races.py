"""What people, jobs and Slurm do in the same moment as the bridge, on a real Slurm: `python -m benchmarks.chaos.races`.

Each race is one job, one decision and one interference at a random time around the act: its user cancels it, an operator requeues it
or requeues it in hold, it ends by itself. Meanwhile slurmctld is restarted now and then. Several races run side by side.
"""

import argparse
import contextlib
import logging
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import structlog
from rich.console import Console
from rich.table import Table

from records import Action, Decision, DecisionResult, Mode, Outcome, Record
from scheduler_bridge import Bridge, BridgeOptions
from scheduler_bridge.act_keys import act_key, read_keys
from scheduler_bridge.actuators.slurm import SlurmActuator
from scheduler_bridge.actuators.slurm.settings import SlurmSettings
from scheduler_clients.slurm import SlurmClient, SlurmCommands, SlurmUnavailable
from tests.servers.slurm import Slurm, running

Answer = TypeVar("Answer")

LANES = 4
WITHIN_S = 90.0
"""A race that takes longer counts as one that never ended."""


class Interference(StrEnum):
    """What happens beside the act."""

    CANCEL = "its user cancels it"
    REQUEUE = "an operator requeues it"
    HOLD = "an operator requeues it in hold"
    ENDS = "it ends by itself"


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

    @property
    def wrong(self) -> str:
        """Return what must not be; empty for nothing."""
        by_people = self.interfered and self.interference in (Interference.REQUEUE, Interference.HOLD)
        cancelled = self.interfered and self.interference is Interference.CANCEL
        not_done = self.outcome in (Outcome.REFUSED, Outcome.FAILED)
        # Slurm counts a restart when a job is put back in the queue; one that is cancelled there never runs again.
        rules = {
            "started again too often": self.restarts > 1 + by_people,
            "done, and the bridge's key is not there": self.outcome == Outcome.DONE and not self.noted,
            "not done, as was said, and started again": not_done
            and self.restarts > by_people
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
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    console = Console(width=160)
    with console.status("races"), running(min_job_age=7200) as slurm:
        races, restarts = run(slurm, given.races, given.controller, given.seed)
    table = Table("what", "figure", box=None, pad_edge=False)
    table.add_row("races", str(len(races)))
    table.add_row("times that slurmctld was restarted", str(restarts))
    for name, count in Counter(f"{race.action}, {race.interference}: {race.outcome}" for race in races).most_common():
        table.add_row(name, str(count))
    wrong = [race for race in races if race.wrong]
    table.add_row("wrong or doubled", str(len(wrong)))
    for race in wrong[:10]:
        table.add_row(race.wrong, str(race))
    console.print(table)
    sys.exit(1 if wrong else 0)


def run(slurm: Slurm, races: int, controller_s: float, seed: int) -> tuple[list[Race], int]:
    """Run so many races, and return how each ended, and how often slurmctld was restarted."""
    over, restarts = threading.Event(), 0

    def restart() -> None:
        nonlocal restarts
        while not over.wait(controller_s):
            slurm.stop_controller()
            slurm.start_controller()
            restarts += 1

    thread = threading.Thread(target=restart)
    thread.start()
    try:
        with ThreadPoolExecutor(LANES) as lanes:
            return list(
                lanes.map(lambda number: _race(slurm, random.Random(seed * 100_000 + number)), range(races))
            ), restarts
    finally:
        over.set()
        thread.join()


def _race(slurm: Slurm, chance: random.Random) -> Race:
    action, interference = chance.choice(list(JOBS)), chance.choice(list(Interference))
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

    options = BridgeOptions(modes=dict.fromkeys(Action, Mode.ACT), actions_per_cluster=10**6, user_share=1.0)
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
    return Race(action, interference, final, seen[0], seen[1], seen[2], noted, any(done))


def _submitted(slurm: Slurm, script: str, state: str) -> str:
    while True:
        with contextlib.suppress(AssertionError, KeyError):
            job = slurm.submit(script, "--output=/dev/null")
            break
        time.sleep(0.2)
    while True:
        with contextlib.suppress(AssertionError, KeyError):
            slurm.wait(job, state, "COMPLETED", seconds=60)
            return job
        time.sleep(0.2)


def _interfere(slurm: Slurm, job: str, interference: Interference, delay: float) -> bool:
    """Return whether Slurm took the command."""
    time.sleep(delay)
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
