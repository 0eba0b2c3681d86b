"""Reads what submitted jobs train from their source, where Slurm runs, as the job's user, in a process of its own."""

import sys
import time
from collections import OrderedDict
from collections.abc import Callable

import msgspec
import structlog

from schedmate_records import NOT_JSON, InvalidRecord, Workload, check

from ..client import SlurmError, SlurmJob
from ..client.as_user import run_as

log = structlog.get_logger(__name__)


class JobSource(msgspec.Struct, frozen=True):
    """Source tree of a job.

    Attributes:
        workload: What the job trains; null in each field that is unknown.
        branch: Branch of the directory; empty where there is none.
        failed: Reason by name of each part that could not be read.
    """

    workload: Workload
    branch: str = ""
    failed: dict[str, str] = {}


class SourceReader:
    """Reads the source of jobs. Of a tree that cannot be read, or not in time, nothing is reported.

    Args:
        gpus: Counts the GPUs of a job.
        clock: Monotonic seconds.
        read_s: Seconds for one tree.
        look_s: Seconds for all trees of one look.
    """

    def __init__(
        self,
        gpus: Callable[[SlurmJob], float | None],
        clock: Callable[[], float] = time.monotonic,
        # Time limit of one tree.
        read_s: float = 5.0,
        # Time limit of all trees of one look: other jobs' events wait behind them. Further jobs are reported without their
        # record.
        look_s: float = 10.0,
    ) -> None:
        self._gpus, self._clock, self._read_s, self._look_s = gpus, clock, read_s, look_s
        self._kept: OrderedDict[tuple[str, bytes], tuple[float, JobSource | None]] = OrderedDict()
        self._until = 0.0

    def begin(self) -> None:
        """A look begins: so much time may go into it."""
        self._until = self._clock() + self._look_s

    def read(self, job: SlurmJob) -> JobSource | None:
        """Return what the source of a job shows; None where that is not known."""
        gpus = self._gpus(job) or 0.0
        nodes = max(1, job.node_count)
        about = {
            "directory": job.directory,
            "command": job.command,
            "devices": max(1, round(gpus / nodes)),
            "nodes": nodes,
        }
        question = msgspec.json.encode(about)
        known = self._kept.get((job.user, question))
        # Tasks of an array have one source: it is read once a minute.
        if known and self._clock() - known[0] < 60.0:
            return known[1]
        found = self._ask(job.user, question)
        self._kept[job.user, question] = (self._clock(), found)
        self._kept.move_to_end((job.user, question))
        # Enough for the arrays of one minute.
        if len(self._kept) > 1000:
            self._kept.popitem(last=False)
        return found

    def _ask(self, user: str, question: bytes) -> JobSource | None:
        left = min(self._read_s, self._until - self._clock())
        if left <= 0:
            return None
        try:
            done = run_as(
                user,
                [sys.executable, "-I", "-m", "scheduler_bridge.sources.read_workload"],
                timeout_s=left,
                stdin=question,
            )
            found = msgspec.json.decode(done.stdout, type=JobSource) if done.returncode == 0 else None
            if found:  # a user's process wrote it: an event that holds it must not be refused for that
                check(found.workload)
                if found.failed:
                    log.info("source_read_in_part", user=user, failed=repr(found.failed)[:500])
            return found
        except (SlurmError, InvalidRecord, *NOT_JSON) as error:
            log.info("source_not_read", user=user, error=str(error))
            return None
