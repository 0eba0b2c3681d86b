"""Creates and updates the tables of a database: numbered SQL files. Each runs once and is recorded with its checksum."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from clickhouse_connect.driver.client import Client

from ..errors import SinkRejected, TablesMissing
from .faults import translated_errors
from .rollup import ROLLUP
from .tables import TABLES

_KEEP_DAYS = 90
"""Default number of days: a quarter, over which a cluster's failures are compared."""

KEPT = (*(table.name for table in TABLES), ROLLUP)
"""Names of the tables whose rows can expire."""


_APPLIED_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations
(version UInt32, name String, checksum String, applied DateTime('UTC') DEFAULT now())
ENGINE = ReplacingMergeTree ORDER BY version
"""


@dataclass(frozen=True)
class Migration:
    """One numbered file. `checksum` is the SHA-256 of its text."""

    version: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def statements(self) -> list[str]:
        """The statements, in order: a semicolon at the end of a line ends one."""
        return [statement for statement in (part.strip() for part in (self.text + "\n").split(";\n")) if statement]

    @property
    def creates(self) -> list[str]:
        """Names of the tables and views that the statements create."""
        return re.findall(
            r"^CREATE (?:OR REPLACE )?(?:MATERIALIZED )?(?:TABLE|VIEW) (?:IF NOT EXISTS )?(\w+)",
            self.text,
            flags=re.MULTILINE,
        )

    @property
    def columns(self) -> dict[str, str]:
        """Definitions of the columns that the statements create, by `table.column`."""
        definitions = {}
        tables = re.findall(r"^CREATE TABLE IF NOT EXISTS (\w+)\n\(\n(.*?)\n\)$", self.text, re.MULTILINE | re.DOTALL)
        for table, lines in tables:
            for line in lines.split(",\n"):
                definitions[f"{table}.{line.split()[0]}"] = line.strip()
        return definitions


def migrations() -> list[Migration]:
    """Return the migrations that ship with this code, in order."""
    found = [file for file in files(__package__).joinpath("migrations").iterdir() if file.name.endswith(".sql")]
    return [
        Migration(int(file.name.split("_", 1)[0]), file.name, file.read_text(encoding="utf-8"))
        for file in sorted(found, key=lambda file: file.name)
    ]


def migrate(
    client: Client, *, keep_days: Mapping[str, int] | int | None = None, known: Sequence[Migration] | None = None
) -> list[str]:
    """Create the database where it is missing, run what has not been run, and return the names of the files that ran.

    Every statement can be repeated, so that two `migrate` at once, and one after a kill, do no harm. If a table or a view is missing that
    an earlier file created (see `lost`), all files run again and create it, empty. A missing column is added.

    Args:
        client: As `open_client` returns it.
        keep_days: How long to keep rows (see `set_retention`); None leaves it as it is.
        known: The migrations; those that ship by default.

    Raises:
        SinkRejected: The text of a file changed since it ran, the database is newer than this code, or the user may not change it.
        SinkUnavailable: The server is unavailable.
    """
    known = migrations() if known is None else known
    with translated_errors("creating the database"):
        name = {"name": client.database}
        # Asked for first, so that a user who may only create tables can migrate a database that is there.
        if not client.command("EXISTS DATABASE {name:Identifier}", parameters=name, use_database=False):
            client.command("CREATE DATABASE IF NOT EXISTS {name:Identifier}", parameters=name, use_database=False)
        client.command(_APPLIED_TABLE)
    done = _applied(client)
    _check_texts(done, known)
    missing = _missing(client, known, done)
    _add_columns(client, known, missing)  # before the files run again: views use the columns
    ran = []
    for migration in known:
        if migration.version in done and not missing:
            continue
        for statement in migration.statements:
            with translated_errors(f"migration {migration.name}"):
                client.command(statement)
        if migration.version in done:
            continue
        with translated_errors(f"recording migration {migration.name}"):
            client.insert(
                "schema_migrations",
                [[migration.version, migration.name, migration.checksum]],
                column_names=["version", "name", "checksum"],
            )
        ran.append(migration.name)
    if keep_days is not None:
        set_retention(client, keep_days)
    return ran


def _add_columns(client: Client, known: Sequence[Migration], missing: Sequence[str]) -> None:
    for migration in known:
        for name, definition in migration.columns.items():
            if name in missing:
                table = name.split(".")[0]
                with translated_errors(f"adding column {name}"):
                    client.command(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {definition}")


def lost(client: Client) -> list[str]:
    """Return the tables, views and columns (`table.column`) that migrations created and that are missing.

    Raises:
        SinkUnavailable: The server is unavailable.
    """
    try:
        return _missing(client, migrations(), _applied(client))
    except TablesMissing:  # no migration ran here
        return []


def check_schema(client: Client) -> None:
    """Check that the database has the tables that this code writes to.

    Raises:
        TablesMissing: A table, a view or a column was dropped.
        SinkRejected: It has no tables, or was migrated by an older, newer or changed version; the message states what to do.
        SinkUnavailable: The server is unavailable.
    """
    known = migrations()
    try:
        done = _applied(client)
    except TablesMissing as error:
        raise SinkRejected(str(error)) from error  # not migrated yet: waiting does not help
    _check_texts(done, known)
    missing = [migration.name for migration in known if migration.version not in done]
    if missing:
        raise SinkRejected(
            f"expected database {client.database!r} at migration {known[-1].name}, but {', '.join(missing)} "
            "did not run. Run `schedmate migrate`."
        )
    if gone := _missing(client, known, done):
        raise TablesMissing(
            f"expected {', '.join(gone)} in database {client.database!r}, found none. Run `schedmate migrate`."
        )


def _missing(client: Client, known: Sequence[Migration], done: Mapping[int, object]) -> list[str]:
    ran = [migration for migration in known if migration.version in done]
    wanted = list(dict.fromkeys(name for migration in ran for name in migration.creates))
    with translated_errors("looking for tables"):
        rows = client.query(
            "SELECT table, name FROM system.columns WHERE database = {database:String}",
            parameters={"database": client.database},
        ).result_rows
    columns = {f"{table}.{name}" for table, name in rows}
    tables = {str(table) for table, _ in rows}
    missing = [name for name in wanted if name not in tables]
    if len(ran) < len(migrations()):  # later files add columns
        return missing
    ours = [f"{table.name}.{column.name}" for table in TABLES if table.name in tables for column in table.columns]
    return missing + [name for name in ours if name not in columns]


def _applied(client: Client) -> dict[int, tuple[str, str]]:
    """Return name and checksum of every migration that ran, by number."""
    with translated_errors("reading the state of the schema"):
        rows = client.query(
            "SELECT version, any(name), any(checksum) FROM schema_migrations GROUP BY version"
        ).result_rows
    return {int(version): (str(name), str(checksum)) for version, name, checksum in rows}


def _check_texts(done: Mapping[int, tuple[str, str]], known: Sequence[Migration]) -> None:
    ours = {migration.version: migration for migration in known}
    for version, (name, checksum) in sorted(done.items()):
        if version not in ours:
            raise SinkRejected(
                f"expected a database of at most migration {max(ours, default=0)}, got one with {name}: "
                "a newer SchedMate migrated it. Upgrade this one."
            )
        if ours[version].checksum != checksum:
            raise SinkRejected(
                f"expected {name} as it ran (checksum {checksum[:12]}…), got another text "
                f"({ours[version].checksum[:12]}…). Restore the file, and put the change into a new one."
            )


def set_retention(client: Client, keep_days: Mapping[str, int] | int = _KEEP_DAYS) -> list[str]:
    """Make each table keep its rows for so many days, and return the names of the tables that were changed.

    Args:
        client: Of a migrated database.
        keep_days: Days for all tables, or by table name, where `default` covers those not named (else `_KEEP_DAYS`).
            0 keeps rows for ever.

    Raises:
        SinkRejected: A name that is no table, a negative number, or a database without the tables.
        SinkUnavailable: The server is away.
    """
    wanted = {"default": keep_days} if isinstance(keep_days, int) else dict(keep_days)
    default = wanted.pop("default", _KEEP_DAYS)
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
