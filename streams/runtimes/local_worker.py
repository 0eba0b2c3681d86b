"""The single-process runtime: the engines on a `MemoryBroker`, step by step."""

from collections.abc import Sequence
from typing import Any

from ..memory import MemoryBroker
from ..transport import Message, Outgoing
from .engine import Engine, by_topic

GROUP = "schedmate-worker"


class LocalWorker:
    """Reads the inputs of `engines` from a broker in this process and writes what follows from them."""

    def __init__(self, broker: MemoryBroker, engines: Sequence[Engine[Any]]) -> None:
        self._engines = by_topic(engines)
        self._broker = broker
        self._consumer = broker.consumer(GROUP, tuple(self._engines))
        self._producer = broker.producer()

    def step(self, timeout: float = 0.0, limit: int = 50) -> int:
        """Handle up to `limit` messages, waiting up to `timeout` seconds for the first, and return how many there were."""
        messages = self._consumer.poll(timeout, limit)
        if not messages:
            return 0
        for engine in dict.fromkeys(self._engines[message.position.topic] for message in messages):
            self._handle(engine, [each for each in messages if self._engines[each.position.topic] is engine])
        self._consumer.commit()
        return len(messages)

    def _handle(self, engine: Engine[Any], messages: Sequence[Message]) -> None:
        for partition in {message.position.partition for message in messages} - engine.partitions:
            self._restore(engine, partition)
        results = engine.handle(messages)
        for stage in results.stages:
            self._write(stage)
        engine.acknowledged(results)

    def _restore(self, engine: Engine[Any], partition: int) -> None:
        engine.load(partition, self._broker.read(engine.processor.state_topic, partition))
        committed = {
            topic: self._broker.committed.get((GROUP, topic, partition), 0) for topic in engine.processor.inputs
        }
        restored = engine.restore(partition, committed)
        self._write(restored.writes)
        for topic, (begin, end) in restored.replay.items():
            engine.replay(self._broker.read_between(topic, partition, begin, end))

    def _write(self, batch: Sequence[Outgoing]) -> None:
        for written in [self._producer.send(message) for message in batch]:
            written.result()
