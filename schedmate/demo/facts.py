"""Facts for the checks of the demo, from the topics and the database."""

from dataclasses import dataclass, field

from clickhouse_connect.driver.client import Client

from sinks.clickhouse.queries import ask
from sinks.clickhouse.tables import TABLE_OF
from streams.accept import accept
from streams.memory import MemoryBroker

from .board import Board, JobLine
from .programs import Program


@dataclass(frozen=True)
class DemoFacts:
    """Everything that the checks and the summary look at.

    Attributes:
        board: The records of the topics.
        gpus: Where GPU samples are from.
        pieces_shipped: Pieces of text that were published.
        pieces_read: Pieces that the processors classified.
        written: Distinct records in each topic.
        stored: Rows of each of their tables in ClickHouse.
    """

    board: Board
    gpus: str = ""
    pieces_shipped: int = 0
    pieces_read: int = 0
    written: dict[str, int] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)

    def job(self, program: Program) -> JobLine:
        """Return what is known of a job; an empty line where it was never submitted."""
        return self.board.jobs.get(program.name, JobLine(program.name, state="never submitted"))


def written(broker: MemoryBroker) -> dict[str, int]:
    """Return the number of distinct records that each table should hold."""
    ids: dict[str, set[str]] = {table: set() for table in TABLE_OF.values()}
    for topic, table in TABLE_OF.items():
        ids[table] |= {accept(message).id for message in broker.read(topic)}  # type: ignore[attr-defined]
    return {table: len(found) for table, found in ids.items()}


def stored(client: Client) -> dict[str, int]:
    """Return the rows of each table."""
    tables = dict.fromkeys(TABLE_OF.values())
    counts = " UNION ALL ".join(f"SELECT '{table}', count() FROM {table}" for table in tables)  # noqa: S608 - names of ours
    return {str(table): int(count) for table, count in ask(client, counts).rows}
