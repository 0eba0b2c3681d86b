"""Writes messages in order, however long the broker is away: what was sent must stand in its topic."""

import queue
import threading

from streams.kafka import Connection, KafkaProducer
from streams.transport import Outgoing, TransportError

_PAUSE_S = 0.5


class Sender:
    """A producer in a thread of its own.

    Args:
        connection: The brokers.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: queue.Queue[Outgoing | None] = queue.Queue()
        self._given_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)
        self._thread.start()

    def send(self, message: Outgoing) -> None:
        """Take over `message`."""
        self._waiting.put(message)

    def close(self, timeout_s: float) -> None:
        """Wait until all is acknowledged. Raises `TransportError` where it is not within `timeout_s`."""
        self._waiting.put(None)
        self._thread.join(timeout_s)
        self._given_up.set()
        if self._thread.is_alive():
            raise TransportError(f"expected all messages to be taken within {timeout_s:g} s, some were not")

    def _run(self) -> None:
        producer: KafkaProducer | None = None
        while (message := self._waiting.get()) is not None:
            while not self._given_up.is_set():
                try:
                    producer = producer or KafkaProducer(self._connection, linger_ms=0, give_up_s=10.0)
                    producer.send(message).result()
                    break
                except TransportError:
                    self._given_up.wait(_PAUSE_S)
        if producer is not None:
            producer.close()
