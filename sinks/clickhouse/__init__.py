"""History: every record in ClickHouse, on a server or embedded, each exactly once."""

from .client import DATABASE, open_client
from .incarnations import FoundJob, find_job
from .migrate import check_schema, lost, migrate
from .queries import Parameter, Query, QueryResult, ask, checked, queries, run
from .retention import KEEP_DAYS, KEPT, set_retention
from .rollup import ROLLUP
from .statement import checked_statement
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
    "Parameter",
    "Query",
    "QueryResult",
    "WriterMetrics",
    "ask",
    "check_schema",
    "checked",
    "checked_statement",
    "find_job",
    "lost",
    "migrate",
    "open_client",
    "queries",
    "run",
    "set_retention",
]
