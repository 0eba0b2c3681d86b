"""The client: reads and writes the files of jobs."""

import json
import re
from pathlib import Path

import msgspec

from scheduler_bridge.schedulers import SchedulerJobState
from scheduler_bridge.schedulers.client_errors import SchedulerError, SchedulerUnavailable
from streams.resilience import replace_file

NAME = re.compile("[A-Za-z0-9-]{1,64}")


class DirectoryJob(msgspec.Struct, kw_only=True):
    """The content of a job's file.

    Attributes:
        state: Its state.
        attempt: Number of restarts.
        nodes: Nodes on which it runs, or ran.
        excluded: Nodes on which it may not run.
        user: Its owner.
        comment: Keys of the actions on it.
        checkpoint: Path of the checkpoint from which it continues; empty for none.
        not_before: Earliest start, in seconds since the epoch.
        exit_code: Exit code of the attempt; null while it runs.
    """

    state: SchedulerJobState
    attempt: int = 0
    nodes: list[str] = []
    excluded: list[str] = []
    user: str = ""
    comment: str = ""
    checkpoint: str = ""
    not_before: float = 0.0
    exit_code: int | None = None


class JobDirectory:
    """The jobs of a directory.

    Args:
        path: The directory.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, job: str) -> DirectoryJob | None:
        """Return a job; None where there is no file of it. The name comes from a record, so it is checked before it is used in a path."""
        if not NAME.fullmatch(job):
            return None
        try:
            return msgspec.json.decode(self._file(job).read_bytes(), type=DirectoryJob)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SchedulerUnavailable("a readable file of the job", str(error), "it is read again") from error
        except msgspec.MsgspecError as error:
            raise SchedulerError(f"a job in {self._file(job)}", str(error), "correct the file") from error

    def read_all(self) -> dict[str, DirectoryJob]:
        """Return all jobs by name."""
        try:
            names = [file.stem for file in self._path.iterdir() if file.suffix == ".json"]
        except OSError as error:
            raise SchedulerUnavailable("a readable directory", str(error), "it is read again") from error
        return {name: job for name in sorted(names) if (job := self.read(name)) is not None}

    def write(self, name: str, job: DirectoryJob) -> None:
        """Replace the file of a job as a whole."""
        try:
            replace_file(self._file(name), json.dumps(msgspec.to_builtins(job)).encode(), mode=0o644)
        except OSError as error:
            raise SchedulerUnavailable("a writable file of the job", str(error), "it is written again") from error

    def _file(self, job: str) -> Path:
        return self._path / f"{job}.json"
