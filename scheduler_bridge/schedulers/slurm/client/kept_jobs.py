"""Copies of jobs' scripts and options, because Slurm forgets a job some minutes after its end (MinJobAge).

One file a job in a directory that only its owner may read: scripts may hold secrets. Old files are deleted, and so are the oldest
where there are too many.
"""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import structlog

from schedmate_records import NOT_JSON
from streams.resilience import replace_file

from .job import SlurmJob

log = structlog.get_logger(__name__)

MAX_SCRIPT = 128 << 10
"""Bytes of a script that is kept; a larger one is not."""
MAX_AGE_S = 7 * 86400.0
_NAME = re.compile(r"[0-9]{1,18}(?:_[0-9]{1,18})?", re.ASCII)


class KeptJob(msgspec.Struct, frozen=True, kw_only=True):
    """Options and script of a job, for its submission.

    Attributes:
        job: The job as Slurm showed it last.
        script: What `scontrol write batch_script` gave.
        columns: What `squeue` printed of it (see `submission.COLUMNS`).
        successor: The job that was submitted in its place; empty for none.
    """

    job: SlurmJob
    script: bytes
    columns: dict[str, str]
    successor: str = ""


class KeptJobs:
    """A directory of kept jobs. The watcher writes those that Slurm knows, the bridge those that it submits again.

    Args:
        directory: Made where it is not there.
        max_bytes: What all files may take.
    """

    def __init__(self, directory: Path, max_bytes: int = 256 << 20, clock: Callable[[], float] = time.time) -> None:
        self._directory = directory
        self._max_bytes = max_bytes
        self._clock = clock
        self._bytes: int | None = None

    def get(self, name: str) -> KeptJob | None:
        """Return a job; None where it is not kept, its file cannot be read, or another user wrote it: it names the user of a script."""
        if not _NAME.fullmatch(name):
            return None
        try:
            with self._file(name).open("rb") as file:
                if (owner := os.fstat(file.fileno()).st_uid) != os.geteuid():
                    raise PermissionError(f"expected a file of user {os.geteuid()}, it is of user {owner}")
                return msgspec.json.decode(file.read(), type=KeptJob)
        except FileNotFoundError:
            return None
        except (OSError, *NOT_JSON) as error:
            log.warning("kept_job_unreadable", file=str(self._file(name)), error=str(error))
            return None

    def put(self, kept: KeptJob) -> None:
        """Keep a job in the place of what was kept of it before."""
        if not _NAME.fullmatch(kept.job.job) or len(kept.script) > MAX_SCRIPT:
            return
        if self._bytes is None:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._bytes = self._tidy(self._max_bytes)
        content = msgspec.json.encode(kept)
        replace_file(self._file(kept.job.job), content, mode=0o600)
        self._bytes += len(content)  # a file that was replaced counts twice until the next look
        if self._bytes > self._max_bytes:
            self._bytes = self._tidy(self._max_bytes * 9 // 10)

    def _tidy(self, most: int) -> int:
        """Remove what is old, then the oldest until `most` bytes are left; return how many are."""
        files = sorted(
            ((file, file.stat()) for file in self._directory.glob("*.json")), key=lambda one: one[1].st_mtime
        )
        total = sum(stat.st_size for _, stat in files)
        for file, stat in files:
            if total <= most and stat.st_mtime > self._clock() - MAX_AGE_S:
                break
            file.unlink(missing_ok=True)
            total -= stat.st_size
        return total

    def _file(self, name: str) -> Path:
        return self._directory / f"{name}.json"
