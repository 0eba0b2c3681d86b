"""An actuator for a scheduler of your own: here one that keeps each job as a JSON file in a directory.

It reads verdicts, one JSON object a line, lets the bridge decide, and prints decisions and results:

python examples/actuator.py ./jobs < failures.jsonl
"""

import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import structlog

from schedmate_records import Action, Failure, Mode, Record, decode, encode
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.act_keys import add_key, read_keys
from scheduler_bridge.schedulers import Actuator, ActuatorError, JobView, SchedulerAway, SchedulerJobState
from streams.resilience import replace_file

NAME = re.compile("[A-Za-z0-9-]{1,64}")


class DirectoryActuator(Actuator):
    """Jobs as files: `NAME.json` holds state, attempt, nodes, excluded nodes and user of the job NAME, and what was done to it."""

    name = "directory"

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def supports(self, action: Action) -> bool:
        """Jobs can be queued again; nothing is ever packed here."""
        return action in (Action.RESTART, Action.EVICT)

    def job(self, job: str) -> JobView | None:
        """Return what the job's file says; None where there is none."""
        found = self._read(job)
        return _view(job, found) if found else None

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        """Put a failed job back in the queue, away from some nodes."""
        return self._queue(job, exclude_nodes, (SchedulerJobState.FAILED,), key, checkpoint=checkpoint)

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:
        """Put a running job back in the queue."""
        not_before = time.time() + delay
        return self._queue(job, (), (SchedulerJobState.RUNNING,), key, checkpoint=checkpoint, not_before=not_before)

    def _queue(
        self,
        job: str,
        exclude: tuple[str, ...],
        states: tuple[SchedulerJobState, ...],
        key: str,
        **further: str | float,
    ) -> JobView:
        found = self._read(job)
        if found is None:
            raise ActuatorError(f"a file of {job[:80]!r}", "there is none", "nothing was done")
        before = _view(job, found)
        if key in before.acts:  # a call that was cut off came so far
            return before
        if before.state not in states:
            raise ActuatorError(f"a job that is {' or '.join(states)}", f"{job} is {before.state}", "nothing was done")
        wanted = {
            "state": SchedulerJobState.PENDING,
            "attempt": before.attempt + 1,
            "nodes": [],
            "excluded": [*before.excluded, *exclude],
            "comment": add_key(found.get("comment", ""), key),  # shows what was done when all topics are lost
            **further,  # from the checkpoint the job goes on
        }
        with _translated():
            replace_file(self._file(job), json.dumps(found | wanted).encode(), mode=0o644)  # all of it, or nothing
        after = self.job(job)  # what counts is what the scheduler shows afterwards
        if after is None or key not in after.acts or not set(exclude) <= set(after.excluded):
            raise ActuatorError(f"{job} in the queue, away from {exclude}", f"{after}", f"look at {self._file(job)}")
        return after

    def _read(self, job: str) -> dict[str, Any] | None:
        if not NAME.fullmatch(job):  # it comes from a record, so it is checked before it becomes part of a path
            return None
        with _translated():
            try:
                found: dict[str, Any] = json.loads(self._file(job).read_text())
            except FileNotFoundError:
                return None
        return found

    def _file(self, job: str) -> Path:
        return self._directory / f"{job}.json"


def _view(job: str, found: dict[str, Any]) -> JobView:
    return JobView(
        job=job,
        state=SchedulerJobState(found["state"]),
        attempt=found["attempt"],
        nodes=tuple(found["nodes"]),
        excluded=tuple(found["excluded"]),
        user=found["user"],
        acts=read_keys(found.get("comment", "")),
    )


@contextmanager
def _translated() -> Iterator[None]:
    """Raise what the file system answers as an error of an actuator."""
    try:
        yield
    except OSError as error:
        raise SchedulerAway("files of jobs that can be read and written", f"{error}", "it is asked again") from error


def main(directory: Path) -> None:
    """Feed the bridge with what comes on standard input."""

    def publish(record: Record) -> None:
        print(encode(record).decode(), flush=True)

    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    actuator: Actuator = DirectoryActuator(directory)
    bridge = Bridge(actuator, BridgeSettings(modes={Action.RESTART: Mode.ACT}), publish)
    for line in sys.stdin.buffer:
        bridge.accept(decode(Failure, line))
        bridge.advance()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
