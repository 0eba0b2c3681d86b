"""The single-process runtime: the engine on a `MemoryBroker`, step by step."""

from streams.memory import MemoryBroker
from streams.topics import STATE_TOPIC

from .engine import INPUTS, Engine

GROUP = "schedmate-worker"


class LocalWorker:
    """Reads `job-logs` and `job-events` of a broker in this process and writes what follows from them."""

    def __init__(self, broker: MemoryBroker, engine: Engine | None = None) -> None:
        self.engine = engine or Engine()
        self._broker = broker
        self._consumer = broker.consumer(GROUP, INPUTS)
        self._producer = broker.producer()

    def step(self, timeout: float = 0.0, limit: int = 50) -> int:
        """Handle up to `limit` messages, waiting up to `timeout` seconds for the first, and return how many there were."""
        messages = self._consumer.poll(timeout, limit)
        if not messages:
            return 0
        for partition in {message.position.partition for message in messages} - self.engine.partitions:
            self.engine.restore(partition, self._broker.read(STATE_TOPIC, partition))
        results = self.engine.handle(messages)
        for batch in (results.records, results.states):
            for written in [self._producer.send(message) for message in batch]:
                written.result()
        self._consumer.commit()
        return len(messages)
