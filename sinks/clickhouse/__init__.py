"""History: every record in ClickHouse, on a server or embedded, each exactly once."""

from .client import DATABASE, open_client
from .incarnations import FoundJob, find_job
from .lines import (
    LineStream,
    Selection,
    StoredLine,
    StoredSoFar,
    any_lines,
    check_pattern,
    last_place,
    line_streams,
    lines_at,
    new_lines,
    newest_attempt,
    newest_lines,
    read_lines,
    stored_so_far,
)
from .migrate import check_schema, lost, migrate
from .queries import Parameter, Query, QueryResult, ask, checked, queries, run
from .retention import KEEP_DAYS, KEPT, set_retention
from .rollup import ROLLUP
from .statement import checked_statement
from .table_of_lines import LogLine
from .tables import STORED_TOPICS, TABLE_OF
from .writer import ClickHouseWriter, WriterMetrics

__all__ = [
    "DATABASE",
    "KEEP_DAYS",
    "KEPT",
    "ROLLUP",
    "STORED_TOPICS",
    "TABLE_OF",
    "ClickHouseWriter",
    "FoundJob",
    "LineStream",
    "LogLine",
    "Parameter",
    "Query",
    "QueryResult",
    "Selection",
    "StoredLine",
    "StoredSoFar",
    "WriterMetrics",
    "any_lines",
    "ask",
    "check_pattern",
    "check_schema",
    "checked",
    "checked_statement",
    "find_job",
    "last_place",
    "line_streams",
    "lines_at",
    "lost",
    "migrate",
    "new_lines",
    "newest_attempt",
    "newest_lines",
    "open_client",
    "queries",
    "read_lines",
    "run",
    "set_retention",
    "stored_so_far",
]
