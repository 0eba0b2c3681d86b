"""The Faust runtime: the engines as agents on Kafka, in one process.

Faust brings the group membership, the fetching and the commits. Its tables and its `exactly_once` are not used: they are not exact under
`kill -9`. State goes to compacted topics of our own, in the order that docs/architecture.md explains.
"""

from collections.abc import Callable, Sequence
from typing import Any

from faust.types import TP

from processors.keyed import KeyedProcessor

from ..kafka import Connection
from .engine import Engine, by_topic
from .faust_agent import FaustAgent
from .faust_app import faust_app, run_app


class FaustWorker:
    """One worker process. Several of them with one `group` share the partitions.

    `makers` make the engines' processors anew, so that messages can be tried in another process.
    """

    def __init__(
        self,
        connection: Connection,
        engines: Sequence[Engine[Any]],
        group: str = "schedmate-worker",
        session_timeout_s: float = 10.0,
        *,
        makers: Sequence[Callable[[], KeyedProcessor[Any]]] = (),
    ) -> None:
        by_topic(engines)
        self._connection = connection
        self.app = faust_app(connection, group, session_timeout_s)
        made = [*makers, *[None] * (len(engines) - len(makers))]
        self._agents = [
            FaustAgent(self.app, connection, engine, make) for engine, make in zip(engines, made, strict=True)
        ]
        self.app.on_partitions_revoked.connect(self._revoked)

    def run(self) -> None:
        """Run until SIGINT or SIGTERM; ends the process."""
        run_app(self.app)

    def problems(self) -> list[str]:
        """Return what is wrong, for the health check."""
        return [*self._connection.problems(), *(problem for agent in self._agents for problem in agent.problems())]

    async def _revoked(self, *arguments: Any, **_: Any) -> None:
        revoked: set[TP] = arguments[-1]
        for agent in self._agents:
            agent.revoked(revoked)
