"""Answers of the scheduler about owners and incarnations of jobs, for callers that must not wait."""

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar


class Unasked(str):
    """Why the scheduler could not be asked. It is asked again; that it knows no such job is another answer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Unknown:
    reason: str
    until: float


Answer = TypeVar("Answer")


class JobOwners(Generic[Answer]):
    """Asks on a thread of its own, many jobs at once, and remembers the answers.

    Args:
        ask: Returns answers (user ids, for example) about those of the jobs that it knows. What it raises is the reason why there is none.
        pause_s: Seconds between two questions.
        limit: Answers to remember of each kind.
    """

    def __init__(
        self,
        ask: Callable[[Collection[str]], Mapping[str, Answer]],
        *,
        monotonic: Callable[[], float] = time.monotonic,
        pause_s: float = 1.0,
        limit: int = 10_000,
    ) -> None:
        self._ask, self._monotonic, self._pause_s, self._limit = ask, monotonic, pause_s, limit
        self._known: dict[str, Answer] = {}
        self._unknown: dict[str, _Unknown] = {}
        self._wanted: dict[str, None] = {}
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def answer_for(self, job: str) -> Answer | str | None:
        """Return the answer about `job`, or why there is none; None while it is being asked for the first time."""
        with self._changed:
            if (answer := self._known.get(job)) is not None:
                return answer
            unknown = self._unknown.get(job)
            if unknown is None or self._monotonic() >= unknown.until:
                if len(self._wanted) < self._limit:
                    self._wanted[job] = None
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="job owners", daemon=True)
                    self._thread.start()
                self._changed.notify_all()
            return None if unknown is None else unknown.reason

    def close(self) -> None:
        """Ask no more."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()

    def __len__(self) -> int:
        """Return the number of answers that are remembered."""
        return len(self._known) + len(self._unknown)

    def _run(self) -> None:
        while not self._stop.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._wanted or self._stop.is_set())
                # 200 jobs a question: a command line of a few kilobytes, answered in milliseconds.
                jobs = list(self._wanted)[:200]
            if not self._stop.is_set():
                self._answer(jobs)
                self._stop.wait(self._pause_s)

    def _answer(self, jobs: list[str]) -> None:
        reason = ""
        found: Mapping[str, Answer] = {}
        try:
            found = self._ask(jobs)
        except Exception as error:  # noqa: BLE001  whatever keeps the scheduler from answering: files wait, lines go on
            reason = Unasked(error)
        with self._changed:
            # A job that is not known is asked for again after 30 s: a file may be older than its job is in Slurm's list.
            until = self._monotonic() + 30.0
            for job in jobs:
                del self._wanted[job]
                if job in found:
                    self._unknown.pop(job, None)
                    self._known[job] = found[job]
                else:
                    self._unknown[job] = _Unknown(reason or f"the scheduler knows no job {job}", until)
            for answers in (self._known, self._unknown):
                for job in list(answers)[: max(0, len(answers) - self._limit)]:
                    del answers[job]
