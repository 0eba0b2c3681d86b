"""Reads topics in batches and hands them on: what the sink and the bridge run in."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event

from records import InvalidRecord, Position, Record
from streams.accept import accept, refuse
from streams.transport import Consumer, Message, Producer, outgoing

Batch = Sequence[tuple[Position, Record]]


@dataclass
class Counters:
    """What one pump has done."""

    messages: int = 0
    """Messages read."""
    dead_letters: int = 0
    """Messages that held no record of their topic."""
    behind: int = 0
    """Messages not yet read now, all partitions together."""


@dataclass
class Pump:
    """Polls, decodes, hands on, commits; in that order, so that a crash repeats work and never skips it.

    Attributes:
        consumer: Where messages come from.
        producer: Where dead letters go.
        handle: Takes a batch and returns once its effects last. It may be given an empty batch when nothing came for `seconds`.
        rows: Messages that make a batch full.
        seconds: A batch is not waited for longer than this.
    """

    consumer: Consumer
    producer: Producer
    handle: Callable[[Batch], None]
    rows: int = 500
    seconds: float = 0.1
    counters: Counters = field(default_factory=Counters)

    def run(self, stop: Event) -> None:
        """Pump until `stop` is set."""
        while not stop.is_set():
            self.step()

    def step(self) -> int:
        """Handle one batch and return the number of its messages."""
        messages = self._gather()
        batch: list[tuple[Position, Record]] = []
        for message in messages:
            try:
                batch.append((message.position, accept(message)))
            except InvalidRecord as error:
                self.counters.dead_letters += 1
                self.producer.send(outgoing(refuse(message, str(error)))).result()
        self.counters.behind = sum(self.consumer.lag().values()) + len(messages)
        self.handle(batch)
        if messages:
            self.consumer.commit()
            self.counters.messages += len(messages)
        self.counters.behind = sum(self.consumer.lag().values())
        return len(messages)

    def _gather(self) -> list[Message]:
        gathered: list[Message] = []
        deadline = time.monotonic() + self.seconds
        while len(gathered) < self.rows and (left := deadline - time.monotonic()) > 0:
            gathered += self.consumer.poll(left, self.rows - len(gathered))
        return gathered
