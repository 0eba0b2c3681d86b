"""The Faust runtime: the engines as agents on Kafka, in one process.

Faust brings the group membership, the fetching and the commits. Its tables and its `exactly_once` are not used: they are not exact under
`kill -9`. State goes to compacted topics of our own, in the order that docs/architecture.md explains.
"""

import logging
import ssl
from collections.abc import Callable, Sequence
from typing import Any

import faust
from faust.types import TP

from processors.keyed import KeyedProcessor
from streams.kafka import Connection

from .asking import Asking
from .engine import Engine, by_topic
from .faust_agent import FaustAgent


class FaustWorker:
    """One worker process. Several of them with one `group` share the partitions.

    `asking` takes the engines' questions to a language model; None where nobody is asked. `makers` make the engines' processors
    anew, so that messages can be tried in another process.
    """

    def __init__(
        self,
        connection: Connection,
        engines: Sequence[Engine[Any]],
        group: str = "schedmate-worker",
        session_timeout_s: float = 10.0,
        *,
        asking: Asking | None = None,
        makers: Sequence[Callable[[], KeyedProcessor[Any]]] = (),
    ) -> None:
        by_topic(engines)
        self._connection = connection
        self.app = faust.App(
            group,
            broker=[f"kafka://{broker}" for broker in connection.brokers],
            broker_credentials=_credentials(connection),
            broker_session_timeout=session_timeout_s,
            broker_heartbeat_interval=session_timeout_s / 4,
            broker_commit_interval=0.5,
            broker_max_poll_records=500,
            consumer_auto_offset_reset="earliest",
            # A broker that has just come back may let the group form before it knows its topics: look again soon, and rebalance.
            consumer_metadata_max_age_ms=5000,
            consumer_max_fetch_size=16 << 20,
            producer_compression_type="lz4",
            producer_linger=0.002,
            producer_max_request_size=16 << 20,
            producer_acks=-1,
            topic_allow_declare=False,
            topic_disable_leader=True,
            web_enabled=False,
            autodiscover=False,
            key_serializer="raw",
            value_serializer="raw",
        )
        made = [*makers, *[None] * (len(engines) - len(makers))]
        self._agents = [
            FaustAgent(self.app, connection, engine, asking, make) for engine, make in zip(engines, made, strict=True)
        ]
        self.app.on_partitions_revoked.connect(self._revoked)

    def run(self) -> None:
        """Run until SIGINT or SIGTERM; ends the process."""
        logging.getLogger("faust").setLevel(logging.WARNING)
        worker = faust.Worker(self.app, override_logging=False, quiet=True)
        worker.execute_from_commandline()

    def problems(self) -> list[str]:
        """Return what is wrong, for the health check."""
        return [*self._connection.problems(), *(problem for agent in self._agents for problem in agent.problems())]

    async def _revoked(self, *arguments: Any, **_: Any) -> None:
        revoked: set[TP] = arguments[-1]
        for agent in self._agents:
            agent.revoked(revoked)


def _credentials(connection: Connection) -> Any:
    context: ssl.SSLContext | None = connection.ssl_context()
    if connection.sasl_mechanism:
        return faust.SASLCredentials(
            mechanism=connection.sasl_mechanism,
            username=connection.sasl_username,
            password=connection.sasl_password,
            ssl_context=context,
        )
    return faust.SSLCredentials(context) if context else None
