"""Queries of the page to ClickHouse: one client, opened when first needed, with a time limit for every query."""

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from clickhouse_connect.driver.client import Client

from sinks import SinkUnavailable
from sinks.clickhouse.queries import QueryResult, ask, run

Row = Mapping[str, Any]
T = TypeVar("T")

LIMIT_S = 15
"""Seconds that the server works on one question of a page at most."""
LIMITS = {
    "max_execution_time": str(LIMIT_S),
    # A page's questions read few rows; to compile one took five times as long as to answer it.
    **dict.fromkeys(("compile_expressions", "compile_aggregate_expressions", "compile_sort_description"), "0"),
}
"""ClickHouse settings of the client that `connect` opens."""


class Database:
    """Asks ClickHouse on behalf of the pages. Safe to use from several threads.

    Args:
        connect: Opens a client. It may raise `SinkUnavailable`: the next question tries again.
        embedded: The embedded engine answers one question at a time; a server answers many.
    """

    def __init__(self, connect: Callable[[], Client], *, embedded: bool) -> None:
        self._connect = connect
        self._client: Client | None = None
        self._opening = threading.Lock()
        self._asking: AbstractContextManager[object] = threading.Lock() if embedded else nullcontext()

    def rows(self, sql: str, **values: str | float | list[str]) -> list[dict[str, Any]]:
        """Return the rows that `sql` yields, with `values` bound to its `{name:Type}` parameters.

        Raises:
            SinkRejected: The server refuses the question; the message states why.
            SinkUnavailable: The server is away, or the question took too long.
        """
        bound = {name: value if isinstance(value, list) else str(value) for name, value in values.items()}
        answer = self.use(lambda client: ask(client, sql, bound))
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]

    def question(self, name: str, given: Mapping[str, str]) -> QueryResult:
        """Return the answer to the usual question `name`. Raises as `rows` does."""
        return self.use(lambda client: run(client, name, given))

    def use(self, asked: Callable[[Client], T]) -> T:
        """Return what `asked` makes of the client. Raises as `rows` does."""
        client = self._open()
        try:
            with self._asking:
                return asked(client)
        except SinkUnavailable:
            self._forget(client)
            raise

    def close(self) -> None:
        """Let go of the client."""
        if self._client is not None:
            self._forget(self._client)

    def _open(self) -> Client:
        with self._opening:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def _forget(self, client: Client) -> None:
        with self._opening:
            if self._client is client:
                self._client = None
                with self._asking:
                    client.close()
