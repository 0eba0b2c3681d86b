"""How long rows are kept: a TTL of so many days after they were stored, table by table."""

import re
from collections.abc import Mapping

from clickhouse_connect.driver.client import Client

from ..errors import SinkRejected
from .faults import translated_errors
from .rollup import ROLLUP
from .tables import TABLES

KEEP_DAYS = 90
"""Default number of days: a quarter, over which a cluster's failures are compared."""

KEPT = (*(table.name for table in TABLES), ROLLUP)
"""Names of the tables whose rows can expire."""


def set_retention(client: Client, keep_days: Mapping[str, int] | int = KEEP_DAYS) -> list[str]:
    """Make each table keep its rows for so many days, and return the names of the tables that were changed.

    Args:
        client: Of a migrated database.
        keep_days: Days for all tables, or by table name, where `default` covers those not named (else `KEEP_DAYS`).
            0 keeps rows for ever.

    Raises:
        SinkRejected: A name that is no table, a negative number, or a database without the tables.
        SinkUnavailable: The server is away.
    """
    wanted = {"default": keep_days} if isinstance(keep_days, int) else dict(keep_days)
    default = wanted.pop("default", KEEP_DAYS)
    unknown = sorted(set(wanted) - set(KEPT))
    if unknown or min(default, *wanted.values(), 0) < 0:
        raise SinkRejected(f"expected 0 or more days for 'default' or one of {', '.join(KEPT)}; got {keep_days}")
    changed = []
    for table in KEPT:
        days = wanted.get(table, default)
        if _days(client, table) == days:
            continue
        with translated_errors(f"setting how long {table} is kept"):
            if days:
                # Both are ours: a name from the list above and a whole number. DDL takes no bound parameters here.
                client.command(f"ALTER TABLE {table} MODIFY TTL stored + toIntervalDay({int(days)})")
            else:
                client.command(f"ALTER TABLE {table} REMOVE TTL")
        changed.append(table)
    return changed


def _days(client: Client, table: str) -> int:
    """Return how long `table` keeps its rows now; 0 for ever."""
    with translated_errors(f"reading how long {table} is kept"):
        rows = client.query(
            "SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = {table:String}",
            parameters={"table": table},
        ).result_rows
    if not rows:
        raise SinkRejected(
            f"expected table {table} in database {client.database!r}, found none. Run `schedmate migrate`."
        )
    found = re.search(r"\bTTL stored \+ toIntervalDay\((\d+)\)", str(rows[0][0]))
    return int(found.group(1)) if found else 0
