"""Beside the engine: questions go to a language model, and its answers to the topic `model-answers`, which the engine reads.

Nothing here is a result. A question that is lost is lost; an answer that cannot be written is too.
"""

import threading
import time
from collections.abc import Callable, Iterable

from processors.models.asker import Asker
from processors.models.inquiry import Inquiry
from processors.models.language_model import Answer, LanguageModel
from records import BY_RECORD, ModelAnswer, encode
from streams.transport import Outgoing, Producer

WRITTEN_WITHIN_S = 60.0


class Asking:
    """Takes questions without ever waiting; asks, and writes answers, in threads of its own.

    Args:
        model: Whom to ask.
        open_producer: Opens what writes the answers; may raise `TransportError` while no broker answers.
        threads: Questions under way at a time.
        clock: Seconds since 1970.
    """

    def __init__(
        self,
        model: LanguageModel,
        open_producer: Callable[[], Producer],
        threads: int = 2,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._open, self._clock = open_producer, clock
        self._producer: Producer | None = None
        self._lock = threading.Lock()
        self._asker = Asker(model, self._deliver, threads)
        self.metrics = self._asker.metrics

    def offer(self, inquiries: Iterable[Inquiry]) -> None:
        """Take questions, as many as there is room for. Call it once the batch that they follow from is committed."""
        for inquiry in inquiries:
            self._asker.offer(inquiry)

    def close(self) -> None:
        """Drop what waits, and let go of the producer once what is under way has ended."""
        self._asker.close()
        if self._producer is not None:
            self._producer.close()

    def _deliver(self, inquiry: Inquiry, answer: Answer) -> None:
        record = inquiry.record(answer, self._clock())
        topic = BY_RECORD[ModelAnswer]
        message = Outgoing(topic.name, topic.key_of(record), encode(record), inquiry.partition)
        with self._lock:
            if self._producer is None:
                self._producer = self._open()
        self._producer.send(message).result(WRITTEN_WITHIN_S)
