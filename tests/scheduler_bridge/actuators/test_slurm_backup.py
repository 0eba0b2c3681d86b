"""The primary controller dies in the middle of an act: its backup takes over, and the act is carried out once."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from records import Action, Decision, EventKind, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.actuators.slurm import SlurmActuator
from scheduler_clients.slurm import SlurmClient, SlurmCommands
from streams.producers.slurm_events import SlurmWatcher
from tests.scheduler_bridge.findings import Written
from tests.servers.slurm_pair import SlurmPair, running
from tests.streams.producers.test_slurm_events import Told

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.timeout(300)]

SETTINGS = BridgeSettings(modes={Action.RESTART: Mode.ACT})


@pytest.fixture
def pair() -> Iterator[SlurmPair]:
    with running() as cluster:
        yield cluster


class Deadly(SlurmCommands):
    """Kills the primary right after it was told to put the job back in the queue."""

    def __init__(self, pair: SlurmPair) -> None:
        super().__init__({"SLURM_CONF": str(pair.configuration)})
        self._pair = pair
        self.killed = False

    def __call__(self, *command: str) -> str:
        printed = super().__call__(*command)
        if command[:2] == ("scontrol", "requeuehold") and not self.killed:
            self.killed = True
            self._pair.kill_primary()
        return printed


def until(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_the_backup_finishes_a_restart_and_the_watcher_goes_on(pair: SlurmPair, tmp_path: Path) -> None:
    told, written, commands = Told(), Written(), Deadly(pair)
    client = SlurmClient(SlurmCommands({"SLURM_CONF": str(pair.configuration)}))
    watcher = SlurmWatcher(told.connect, tmp_path / "events.json", client)
    job = pair.submit('test -n "$SLURM_RESTART_COUNT"')
    pair.wait(job, "FAILED")
    watcher.poll()
    # The backup goes on from what was saved, every few seconds: wait until that knows of the end, and not of the act.
    ended = time.time()
    pair.submit("true", "--hold")  # a change, so that it is saved once more
    until(lambda: (pair.root / "state" / "job_state").stat().st_mtime > ended)
    bridge, now = Bridge(SlurmActuator(SlurmClient(commands)), SETTINGS, written), time.time()
    about = {"id": f"restart/{job}", "policy": "p", "reason": "r", "mode": Mode.ACT}
    decision = Decision(action=Action.RESTART, job=job, time=now, expires=now + 600, **about)  # type: ignore[arg-type]
    written(decision)
    bridge.accept(decision)
    deadline = time.monotonic() + 100
    while bridge.open_decisions or told.kinds(job).count(EventKind.ENDED) < 2:
        assert time.monotonic() < deadline, (
            written.results,
            told.events,
            (pair.root / "log" / "backup.log").read_text(),
        )
        bridge.advance()
        watcher.poll()
        time.sleep(0.2)
    watcher.close()
    assert commands.killed
    assert written.outcomes == [Outcome.STARTED, Outcome.DONE], written.results
    assert pair.wait(job, "COMPLETED")["Restarts"] == "1"
    first = [EventKind.SUBMITTED, EventKind.STARTED, EventKind.ENDED]
    assert told.kinds(job) == [*first, EventKind.REQUEUED, EventKind.STARTED, EventKind.ENDED]
