"""An actuator for a scheduler of your own: here one that keeps each job as a JSON file in a directory.

It reads verdicts, one JSON object a line, lets the bridge decide, and prints decisions and results:

python examples/actuator.py ./jobs < failures.jsonl
"""

import json
import sys
import time
from pathlib import Path

import structlog

from records import Action, Failure, Mode, Record, decode, encode
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.actuators import Actuator, ActuatorError, JobView, SchedulerJobState


class DirectoryActuator(Actuator):
    """Jobs as files: `NAME.json` holds state, attempt, nodes and excluded nodes of the job NAME."""

    name = "directory"

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def supports(self, action: Action) -> bool:
        """Jobs can be queued again; nothing is ever packed here."""
        return action in (Action.RESTART, Action.EVICT)

    def job(self, job: str) -> JobView | None:
        """Return what the job's file says; None where there is none."""
        try:
            found = json.loads(self._file(job).read_text())
        except FileNotFoundError:
            return None
        return JobView(
            job=job,
            state=SchedulerJobState(found["state"]),
            attempt=found["attempt"],
            nodes=tuple(found["nodes"]),
            excluded=tuple(found["excluded"]),
            user=found["user"],
        )

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        """Put a stopped job back in the queue, away from some nodes."""
        stopped = (SchedulerJobState.FAILED, SchedulerJobState.COMPLETED)
        return self._queue(job, exclude_nodes, stopped, key=key, checkpoint=checkpoint)

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:
        """Put a running job back in the queue."""
        further = {"key": key, "checkpoint": checkpoint, "not_before": time.time() + delay}
        return self._queue(job, (), (SchedulerJobState.RUNNING,), **further)

    def _queue(
        self, job: str, exclude: tuple[str, ...], states: tuple[SchedulerJobState, ...], **further: str | float
    ) -> JobView:
        before = self.job(job)
        if before is None or before.state not in states:
            came = f"{job} is {before.state if before else 'unknown'}"
            raise ActuatorError(f"a job that is {' or '.join(states)}", came, "nothing was done")
        wanted = {
            "state": SchedulerJobState.PENDING,
            "attempt": before.attempt + 1,
            "nodes": [],
            "excluded": [*before.excluded, *exclude],
            "user": before.user,
            # The decision's key shows what was done when all topics are lost; from the checkpoint the job goes on.
            **further,
        }
        self._file(job).write_text(json.dumps(wanted))
        after = self.job(job)  # what counts is what the scheduler shows afterwards
        if after is None or not set(exclude) <= set(after.excluded):
            raise ActuatorError(f"{job} in the queue, away from {exclude}", f"{after}", f"look at {self._file(job)}")
        return after

    def _file(self, job: str) -> Path:
        # A job's name comes from a record, so it is checked before it becomes part of a path.
        if not job.replace("-", "").isalnum():
            raise ActuatorError("a job's name of letters, digits and dashes", repr(job), "nothing was done")
        return self._directory / f"{job}.json"


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
