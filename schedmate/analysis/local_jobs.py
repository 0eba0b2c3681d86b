"""Jobs whose logs are files and pipes of this host, read in this process: no server is needed."""

import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import PIPE, EventKind, JobEvent, Position, Record
from sinks.redis.memory import MemoryState
from sinks.redis.status import JobStatus
from streams.producers.stored import STANDARD_INPUT, UnreadableLog, follow_chunks, template

from ..top.top import Paces


class LocalJobs:
    """Follows logs, each as one job in a thread of its own. Use it as a context manager: at its end nothing is read any more.

    A pipe is read until its end, and so long its job runs. It is not known whether a program still writes to a file.

    Attributes:
        paces: The step times of each job, report by report.
    """

    def __init__(self, files: Sequence[Path], processor: JobProcessor) -> None:
        """Set up: `files` are the logs (`-`: standard input), and `processor` understands what they hold."""
        self.paces = Paces()
        self._processor, self._state, self._lock = processor, MemoryState(), threading.Lock()
        self._problems: dict[str, str] = {}
        same = Counter(template(file).job for file in set(files))
        self._jobs = {str(file) if same[name] > 1 else name: file for file in files for name in (template(file).job,)}
        self._stop = threading.Event()
        self._readers = {
            job: threading.Thread(target=self._follow, args=(job, file)) for job, file in self._jobs.items()
        }

    def __enter__(self) -> "LocalJobs":
        for reader in self._readers.values():
            reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for reader in self._readers.values():
            reader.join()

    def jobs(self) -> list[JobStatus]:
        """Return what is known of the jobs now."""
        with self._lock:
            return [status for job in self._jobs if (status := self._state.job(job))]

    @property
    def problem(self) -> str:
        """Reason why a log cannot be read; empty if all can be read."""
        return "; ".join(self._problems.values())

    @property
    def writing(self) -> bool:
        """Return whether a pipe is still open. Its writer fails once it has no reader."""
        return any(self._readers[job].is_alive() for job in self._pipes())

    def finish(self) -> None:
        """Wait until all pipes have ended."""
        for job in self._pipes():
            self._readers[job].join()

    def _pipes(self) -> list[str]:
        return [job for job, file in self._jobs.items() if _ends(file)]

    def _follow(self, job: str, file: Path) -> None:
        state, ends = JobState(job=job), _ends(file)
        try:
            if ends:
                self._process(state, Position(job, 1, 0), _event(job, EventKind.STARTED))
            for offset, chunk in enumerate(follow_chunks(file, self._stop.is_set)):
                self._process(state, Position(job, 0, offset), msgspec.structs.replace(chunk, job=job))
        except UnreadableLog as error:
            self._problems[job] = str(error)
        if ends and not self._stop.is_set():
            self._process(state, Position(job, 1, 1), _event(job, EventKind.ENDED))

    def _process(self, state: JobState, position: Position, record: Record) -> None:
        with self._lock:  # what processors learn of templates is shared by all jobs
            made: Iterable[Record] = self._processor.process(state, position, record)
            self._state.update([(position, each) for each in (record, *made)])
            if status := self._state.job(state.job):
                self.paces.see(status)


def _ends(file: Path) -> bool:
    return file == STANDARD_INPUT or not file.is_file()


def _event(job: str, kind: EventKind) -> JobEvent:
    return JobEvent(id=f"{job}/{kind}", job=job, kind=kind, time=time.time(), scheduler=PIPE)
