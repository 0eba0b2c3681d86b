"""A `Producer` on Kafka."""

from concurrent.futures import Future

import kafka
from kafka.errors import KafkaError

from ..transport import Outgoing, TransportError
from .connection import Connection
from .errors import refused, unreachable


class KafkaProducer:
    """Writes to Kafka: acknowledged by all replicas, idempotent, compressed.

    Raises `TransportError` from the constructor where no broker answers.
    """

    def __init__(self, connection: Connection, linger_ms: int = 5, give_up_s: float = 60.0) -> None:
        self._connection = connection
        self._where = ",".join(connection.brokers)
        try:
            # The largest message that any topic takes (`streams/topics.py`).
            self._producer = kafka.KafkaProducer(
                **connection.config(),
                acks="all",
                # With it, kafka-python never answers again once a message has expired. Repeats do no harm: every reader drops them.
                enable_idempotence=False,
                max_in_flight_requests_per_connection=1,  # keeps the order of what is sent again
                compression_type="lz4",
                linger_ms=linger_ms,
                batch_size=1 << 20,
                max_request_size=16 << 20,
                max_block_ms=5000,
                delivery_timeout_ms=int(give_up_s * 1000),
                request_timeout_ms=int(min(10.0, give_up_s / 2) * 1000),
                allow_auto_create_topics=False,
            )
        except KafkaError as error:
            raise unreachable(connection, error) from error

    def send(self, message: Outgoing) -> "Future[None]":
        """Take over `message`; waits up to 5 s the first time that a topic is used, else returns at once."""
        done: Future[None] = Future()
        try:
            written = self._producer.send(
                message.topic, value=message.value, key=message.key, partition=message.partition
            )
        except KafkaError as error:
            done.set_exception(self._explain(message.topic, error))
        else:
            written.add_callback(lambda _: done.set_result(None))
            written.add_errback(lambda error: done.set_exception(self._explain(message.topic, error)))
        return done

    def flush(self, timeout: float) -> None:
        """Wait until all is acknowledged or given up."""
        try:
            self._producer.flush(timeout)
        except KafkaError as error:
            raise TransportError(
                f"not all was acknowledged by {self._where} within {timeout:g} s: {error!r}"
            ) from error

    def close(self) -> None:
        """Close at once; what is not acknowledged is given up."""
        # Else its `close` waits for what cannot be sent, raises, and leaves a thread that goes on sending it.
        self._producer.flush = lambda timeout: None  # noqa: ARG005
        self._producer.close(timeout=0)

    def _explain(self, topic: str, error: BaseException) -> TransportError:
        return refused(self._connection, error, f"write to {topic}")
