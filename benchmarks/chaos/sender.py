"""Writes messages, however long the broker is away: what was sent must stand in its topic."""

import threading
from concurrent.futures import wait

from streams.kafka import Connection, KafkaProducer
from streams.transport import Outgoing, TransportError

_AT_ONCE = 200
_PAUSE_S = 0.5
_ANSWER_S = 15.0
"""A producer whose messages expired may never answer again."""


class Sender:
    """A producer in a thread of its own.

    Args:
        connection: The brokers.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: list[Outgoing] = []
        self._changed = threading.Condition()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)
        self._thread.start()

    def send(self, message: Outgoing) -> None:
        """Take over `message`."""
        with self._changed:
            self._waiting.append(message)
            self._changed.notify()

    @property
    def unsent(self) -> int:
        """How many messages are not acknowledged yet."""
        with self._changed:
            return len(self._waiting)

    def close(self) -> None:
        """Give up what is not acknowledged."""
        self._closed.set()
        with self._changed:
            self._changed.notify()
        self._thread.join(30)

    def _run(self) -> None:
        producer: KafkaProducer | None = None
        while not self._closed.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed.is_set())
                batch = self._waiting[:_AT_ONCE]
            try:
                producer = producer or KafkaProducer(self._connection, give_up_s=10.0)
                sent = [producer.send(each) for each in batch]
                done = wait(sent, _ANSWER_S).done
                failed = [
                    each
                    for each, written in zip(batch, sent, strict=True)
                    if written not in done or written.exception()
                ]
            except TransportError:
                failed = batch
            with self._changed:
                self._waiting[: len(batch)] = failed
            if failed:
                self._let_go(producer)
                producer = None
                self._closed.wait(_PAUSE_S)
        self._let_go(producer)

    @staticmethod
    def _let_go(producer: KafkaProducer | None) -> None:
        if producer is not None:
            producer.close()
