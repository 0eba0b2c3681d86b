"""Records to rows: which table a record goes to."""

import schedmate_records as records
from schedmate_records import Position, Record

from . import tables_of_decisions, tables_of_jobs, tables_of_nodes
from .columns import encoded, integer, plain, text, time
from .table import Table
from .table_of_lines import JOB_LINES

Row = tuple[Position, Record]

TABLES: tuple[Table, ...] = (
    *tables_of_jobs.TABLES,
    *tables_of_nodes.TABLES,
    *tables_of_decisions.TABLES,
    JOB_LINES,
    Table(
        "formats",
        records.KnownFormat,
        (
            text("id"),
            text("fingerprint"),
            time("time"),
            text("author"),
            plain("person", "Bool"),
            text("prompt"),
            plain("training", "Bool"),
            encoded("templates"),
            plain("forgotten", "Bool"),
        ),
        key="fingerprint",
    ),
    Table(
        "dead_letters",
        records.DeadLetter,
        (
            text("id"),
            text("topic"),
            integer("partition"),
            integer("offset"),
            time("time"),
            text("reason"),
            text("stage"),
            plain("key", "Nullable(String)"),
            text("value"),
            integer("size"),
            text("sha256"),
            plain("truncated", "Bool"),
        ),
        key="topic",
    ),
)

BY_RECORD: dict[type[Record], Table] = {table.record: table for table in TABLES}

TABLE_OF: dict[str, str] = {
    topic.name: BY_RECORD[topic.record].name for topic in records.TOPICS if topic.record in BY_RECORD
}
"""The table of each topic whose records have one."""

STORED_TOPICS: tuple[str, ...] = tuple(TABLE_OF)
"""The topics whose records have a table: what a sink subscribes to."""
