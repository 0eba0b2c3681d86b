"""Asks a language model in threads of its own, so that whoever thinks never waits for it.

Questions wait in a bounded queue. One that finds it full is dropped and counted: a model's answer is a help, never a need. The same
question is not queued twice at a time.
"""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from .language_model import Answer, LanguageModel, Question

log = structlog.get_logger(__name__)


@dataclass
class AskerCounters:
    """What became of questions before and after the model."""

    queued: int = 0
    """Questions taken."""
    doubled: int = 0
    """Questions not taken because the same one was under way."""
    dropped: int = 0
    """Questions not taken because the queue was full."""
    delivered: int = 0
    """Answers handed on."""
    undelivered: int = 0
    """Answers that could not be handed on."""


class Asker:
    """Threads that ask. `offer` returns at once.

    Args:
        model: Whom to ask.
        deliver: Takes each answer, in one of the threads; questions without an answer are not delivered.
        threads: Questions under way at a time.
        waiting: Questions that may wait.
    """

    def __init__(
        self,
        model: LanguageModel,
        deliver: Callable[[Question, Answer], None],
        threads: int = 2,
        waiting: int = 100,
    ) -> None:
        self.counters = AskerCounters()
        self._model, self._deliver = model, deliver
        self._queue: queue.Queue[Question | None] = queue.Queue(waiting)
        self._pending: set[tuple[str, str, str, str]] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._full = False
        self._threads = [threading.Thread(target=self._run, name=f"asker-{n}", daemon=True) for n in range(threads)]
        for thread in self._threads:
            thread.start()

    def offer(self, question: Question) -> bool:
        """Take `question`, if there is room and it is not under way already. Returns whether it was taken; never waits."""
        with self._lock:
            if self._closed:
                return False
            if _key(question) in self._pending:
                self.counters.doubled += 1
                return False
            try:
                self._queue.put_nowait(question)
            except queue.Full:
                self.counters.dropped += 1
                full, self._full = self._full, True
            else:
                self._pending.add(_key(question))
                self.counters.queued += 1
                if self._full:
                    log.info("questions to the language model are taken again")
                self._full = False
                return True
        if not full:
            log.warning("questions to the language model are dropped: too many wait")
        return False

    def close(self, timeout: float = 5.0) -> None:
        """Take no more questions, drop those that wait, and wait up to `timeout` seconds for those under way."""
        with self._lock:
            self._closed = True
            while not self._queue.empty():
                self._queue.get_nowait()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(timeout)

    def _run(self) -> None:
        while (question := self._queue.get()) is not None:
            try:
                answer = self._model.ask(question)
                if answer is not None:
                    self._deliver(question, answer)
                    self.counters.delivered += 1
            except Exception:  # the thread must live: the next question may fare better
                self.counters.undelivered += 1
                log.exception("an answer could not be handed on", kind=question.kind, job=question.job)
            finally:
                with self._lock:
                    self._pending.discard(_key(question))


def _key(question: Question) -> tuple[str, str, str, str]:
    return question.kind, question.version, question.key, question.job
