"""The model worker in one process, step by step, on a `MemoryBroker`."""

from streams.memory import MemoryBroker
from streams.model_worker.answering import QuestionAnswerer
from streams.model_worker.language_model import ModelUnavailable
from streams.transport import Consumer


class LocalModelWorker:
    """Reads questions from a broker in this process, answers them at once and writes the answers."""

    def __init__(self, broker: MemoryBroker, answerer: QuestionAnswerer) -> None:
        self._answerer = answerer
        self._consumer: Consumer = broker.consumer("schedmate-model-worker", ("model-questions",))
        self._producer = broker.producer()

    def step(self, limit: int = 50) -> int:
        """Answer up to `limit` questions and return how many there were. One that cannot be answered now is dropped."""
        messages = self._consumer.poll(0.0, limit)
        for message in messages:
            self._answerer.metrics.questions.inc()
            try:
                written = self._answerer.handle(message)
            except ModelUnavailable:
                self._answerer.metrics.expired.inc()
                continue
            for each in written:
                self._producer.send(each).result()
        self._consumer.commit()
        return len(messages)
