"""Asks a language model in threads of its own, so that whoever thinks never waits for it.

Questions wait in a bounded queue. One that finds it full is dropped and counted: a model's answer is a help, never a need. The same
question is not asked twice at a time: whoever asks it again (about the next verdict on the same lines) gets the same answer.
"""

import queue
import threading
from collections.abc import Callable

import structlog
from prometheus_client import Counter, Gauge

from .inquiry import Inquiry
from .language_model import Answer, LanguageModel, Question

log = structlog.get_logger(__name__)


class AskerMetrics:
    """What became of questions before and after the model."""

    def __init__(self) -> None:
        self.taken = Counter("schedmate_asker_taken", "Questions taken.", registry=None)
        self.doubled = Counter(
            "schedmate_asker_doubled",
            "Questions that wait for the answer to the same one, which was under way.",
            registry=None,
        )
        self.dropped = Counter("schedmate_asker_dropped", "Questions not taken because too many waited.", registry=None)
        self.delivered = Counter("schedmate_asker_delivered", "Answers handed on.", registry=None)
        self.undelivered = Counter("schedmate_asker_undelivered", "Answers that could not be handed on.", registry=None)
        self.waiting = Gauge("schedmate_asker_waiting", "Questions that wait or are asked now.", registry=None)


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
        deliver: Callable[[Inquiry, Answer], None],
        threads: int = 2,
        waiting: int = 100,
    ) -> None:
        self.metrics = AskerMetrics()
        self._model, self._deliver = model, deliver
        self._queue: queue.Queue[Question | None] = queue.Queue(waiting)
        self._waiting = waiting
        self._pending: dict[tuple[str, str, str, str], list[Inquiry]] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._full = self._losing = False
        self._threads = [threading.Thread(target=self._run, name=f"asker-{n}", daemon=True) for n in range(threads)]
        for thread in self._threads:
            thread.start()

    def offer(self, inquiry: Inquiry) -> bool:
        """Take `inquiry`, if there is room. Returns whether it was taken; never waits."""
        key = _key(inquiry.question)
        with self._lock:
            if self._closed:
                return False
            if (alike := self._pending.get(key)) is not None and len(alike) < self._waiting:
                self.metrics.doubled.inc()
                alike.append(inquiry)
                return True
            full, self._full = self._full, alike is not None or not self._put(inquiry.question)
            if not self._full:
                self._pending[key] = [inquiry]
                self.metrics.taken.inc()
            else:
                self.metrics.dropped.inc()
            self.metrics.waiting.set(len(self._pending))
            taken = not self._full
        if taken and full:
            log.info("questions to the language model are taken again")
        elif not taken and not full:
            log.warning("questions to the language model are dropped: too many wait")
        return taken

    def _put(self, question: Question) -> bool:
        try:
            self._queue.put_nowait(question)
        except queue.Full:
            return False
        return True

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
            answer = None
            try:
                answer = self._model.ask(question)
            except Exception:  # the thread must live: the next question may fare better
                log.exception("a question could not be asked", kind=question.kind, job=question.job)
            with self._lock:
                alike = self._pending.pop(_key(question), [])
            if answer is not None:
                for inquiry in alike:
                    self._hand_on(inquiry, answer)
            with self._lock:
                self.metrics.waiting.set(len(self._pending))

    def _hand_on(self, inquiry: Inquiry, answer: Answer) -> None:
        try:
            self._deliver(inquiry, answer)
            self.metrics.delivered.inc()
            self._losing = False
        except Exception:  # the thread must live
            self.metrics.undelivered.inc()
            if not self._losing:
                log.exception("answers cannot be handed on", job=inquiry.question.job)
            self._losing = True


def _key(question: Question) -> tuple[str, str, str, str]:
    return question.kind, question.version, question.key, question.job
