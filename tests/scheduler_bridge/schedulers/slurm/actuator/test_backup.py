"""The primary controller dies in the middle of an act: its backup takes over, and the act is carried out once."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedmate_records import Action, Decision, EventKind, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands
from scheduler_bridge.schedulers.slurm.events.watcher import SlurmWatcher
from tests.scheduler_bridge.findings import Written
from tests.scheduler_bridge.schedulers.slurm.kept_events import KeptEvents
from tests.servers.slurm_pair import SlurmPair, running
from tests.waiting import until

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.timeout(300)]

SETTINGS = BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT))
JOBS = {
    Action.RESTART: ('test -n "$SLURM_RESTART_COUNT"', "FAILED", ("COMPLETED",), 1),
    Action.CANCEL: ("sleep 600", "RUNNING", ("CANCELLED", "FAILED"), 0),
}
"""What a job runs, the state in which it is acted on, how it ends, and how often it is started again.

A cancelled job whose end the backup sees without the order has failed, to Slurm, and the bridge cannot tell whose doing that was. Of an
eviction Slurm may forget the order and yet have ended the job (docs/slurm.md): there is nothing to hold it to.
"""


@pytest.fixture
def pair() -> Iterator[SlurmPair]:
    with running() as cluster:
        yield cluster


class Deadly(SlurmCommands):
    """Kills the primary right after it was told to stop the job or to put it back in the queue."""

    def __init__(self, pair: SlurmPair) -> None:
        super().__init__({"SLURM_CONF": str(pair.configuration)})
        self._pair = pair
        self.killed = False

    def __call__(self, *command: str) -> str:
        printed = super().__call__(*command)
        stops = command[0] == "scancel" or command[:2] == ("scontrol", "requeuehold")
        if stops and not self.killed:
            self.killed = True
            self._pair.kill_primary()
        return printed


@pytest.mark.parametrize("action", list(JOBS))
def test_the_backup_finishes_an_act_and_the_primary_comes_back(pair: SlurmPair, tmp_path: Path, action: Action) -> None:
    told, written, commands = KeptEvents(), Written(), Deadly(pair)
    client = SlurmClient(SlurmCommands({"SLURM_CONF": str(pair.configuration)}))
    watcher = SlurmWatcher(told.connect, tmp_path / "events.json", client)
    script, state, end, restarts = JOBS[action]
    job = pair.submit(script)
    pair.wait(job, state)
    pair.wait_saved()
    watcher.poll()
    bridge, now = Bridge(SlurmActuator(SlurmClient(commands)), SETTINGS, written), time.time()
    about = {"id": f"{action}/{job}", "policy": "p", "reason": "r", "mode": Mode.ACT}
    decision = Decision(action=action, job=job, time=now, expires=now + 600, **about)  # type: ignore[arg-type]
    written(decision)
    bridge.accept(decision)

    def over() -> bool:
        bridge.advance()
        watcher.poll()
        return (
            not bridge.open_decisions
            and told.kinds(job).count(EventKind.STARTED) > restarts
            and told.kinds(job)[-1] == EventKind.ENDED
        )

    until(over, 100, shown=lambda: (written.results, told.kinds(job), pair.log("backup.log")))
    assert commands.killed
    ended = pair.wait(job, *end)
    assert ended["Restarts"] == str(restarts)
    forgot = ended["JobState"] == "FAILED" and written.outcomes[-1] is Outcome.UNVERIFIED
    assert written.outcomes == [Outcome.STARTED, Outcome.UNVERIFIED if forgot else Outcome.DONE], written.results

    pair.start_primary()
    later = pair.submit("true")
    first = [EventKind.SUBMITTED, EventKind.STARTED, EventKind.ENDED]
    until(lambda: _polled(watcher, told, later) == first, 100, shown=lambda: (told.kinds(later), pair.log()))
    assert pair.wait(job, *end)["Restarts"] == str(restarts)
    watcher.close()


def _polled(watcher: SlurmWatcher, told: KeptEvents, job: str) -> list[EventKind]:
    watcher.poll()
    return told.kinds(job)
