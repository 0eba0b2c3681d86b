"""Checks of statements that people type: one statement, which reads, and which reaches nothing outside the database.

ClickHouse's own parser analyses the statement, so comments, quotes and spelling hide nothing. This check comes before the setting
`readonly` and the rights of the user, which refuse writes by themselves (see `open_client`).
"""

import re
from collections.abc import Mapping
from typing import NoReturn

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, Error

from ..errors import SinkRejected
from .faults import translated_errors

READING = ("SELECT", "WITH", "SHOW", "DESCRIBE", "EXPLAIN", "EXISTS")
"""First words of accepted statements. The parser turns `DESC` into `DESCRIBE`."""

_TABLE_FUNCTIONS = frozenset(
    {"format", "generate_series", "generaterandom", "generateseries", "null", "numbers", "numbers_mt"}
    | {"sqlstandardvalues", "values", "view", "zeros", "zeros_mt"}
)
"""Table functions that make their rows from the statement alone; all others are refused."""

_OUTSIDE = frozenset({"catboostevaluate", "file", "hascolumnintable"})
"""Functions of values that read a file or ask another server. So do those of language models, whose names begin with `ai`."""

_REFUSED = """
SELECT lower(name) FROM system.table_functions
UNION DISTINCT SELECT lower(name) FROM system.functions WHERE startsWith(lower(name), 'ai')
"""


_QUOTED = re.compile(r"'(?:\\.|''|[^'\\])*'|`(?:\\.|[^`\\])*`|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_NODE = re.compile(r"^ *(\w+) *(.*?)(?: \((?:alias|children) .*)?$", re.DOTALL)
_NAME = re.compile(r"(?:(\w+)\.)?\w+")


def checked_statement(client: Client, sql: str, values: Mapping[str, str], *, embedded: bool) -> str:
    """Return `sql` as ClickHouse's parser understands it, without comments, where it only reads.

    Args:
        client: Client of the database that the statement asks.
        sql: Text that a person typed.
        values: Values of its `{name:Type}` parameters.
        embedded: The engine is the embedded one. It has no users, so the statement may name no other database; on a server the
            rights of the user decide.

    Raises:
        SinkRejected: The text is not one statement that reads, or it reaches outside the database.
        SinkUnavailable: The server does not answer.
    """
    statement = _formatted(client, sql)
    first = statement.split(maxsplit=1)[0].strip("(").upper()
    if first not in READING:
        _refuse(f"a statement that begins with {', '.join(READING[:-1])} or {READING[-1]}", first)
    plain = _QUOTED.sub("''", statement)
    if found := re.search(r"\b(INTO\s+OUTFILE|PARALLEL\s+WITH)\b", plain, flags=re.IGNORECASE):
        _refuse("a statement that only returns rows", found[1].upper())
    if first in ("SHOW", "EXISTS") and "(" in plain:  # the tree that is looked at below leaves its conditions out
        _refuse(f"{first} without parentheses", statement)
    with translated_errors("checking the statement", typed=True):
        lines = [str(row[0]) for row in client.query(f"EXPLAIN AST {statement}", parameters=dict(values)).result_rows]
        refused = frozenset(client.query(_REFUSED).result_columns[0]) - _TABLE_FUNCTIONS | _OUTSIDE
    nodes = [(found[1], found[2]) for found in map(_NODE.match, lines) if found]
    _check_explained(nodes)
    _check_functions(nodes, refused)
    _check_words(statement, frozenset(name for name in refused if name in _OUTSIDE or name.startswith("ai")))
    own = frozenset({client.database or "", "system", "information_schema", "INFORMATION_SCHEMA"})
    _check_tables(nodes, own if embedded else None)
    return statement


def _formatted(client: Client, sql: str) -> str:
    with translated_errors("reading the statement"):
        try:
            rows = client.query("SELECT formatQuerySingleLine({statement:String})", parameters={"statement": sql})
        except ClickHouseError as error:
            # ClickHouse's code of a text that is not one statement.
            if isinstance(error, Error) and error.code == 62:
                message = " ".join(str(error).split(": In scope", 1)[0].split())
                raise SinkRejected(f"expected one statement of ClickHouse's SQL: {message[:300]}") from error
            raise
    return str(rows.result_rows[0][0])


def _check_explained(nodes: list[tuple[str, str]]) -> None:
    """Refuse an EXPLAIN of anything but a SELECT: some kinds ask the server that they name."""
    if nodes and nodes[0][0] == "Explain" and (len(nodes) < 2 or not nodes[1][0].startswith("Select")):
        _refuse("EXPLAIN of a SELECT", nodes[0][1])


def _check_functions(nodes: list[tuple[str, str]], refused: frozenset[str]) -> None:
    for kind, name in nodes:
        if kind == "Function" and name.lower() in refused:
            _refuse("a statement that reads from the database alone", f"the function {name}")


def _check_words(statement: str, refused: frozenset[str]) -> None:
    """Refuse names of functions wherever they are: `APPLY` and `arrayMap` take a function by its name."""
    words = _QUOTED.sub(lambda found: "''" if found[0].startswith("'") else found[0], statement)
    for name in re.findall(r"\w+", words):
        if name.lower() in refused:
            _refuse("a statement that reads from the database alone", f"the function {name}")


def _check_tables(nodes: list[tuple[str, str]], databases: frozenset[str] | None) -> None:
    """Refuse tables whose names may be those of files, and tables of other databases than `databases` (None: of any)."""
    names = {name for kind, name in nodes if kind == "TableIdentifier"}
    if nodes[0][0].startswith(("Show", "Exists")):
        names |= {name for kind, name in nodes if kind == "Identifier"}
    for name in sorted(names):
        own = next((f"own.{name[len(each) + 1 :]}" for each in databases or () if name.startswith(f"{each}.")), None)
        found = _NAME.fullmatch(own or name)
        if not found or (databases is not None and found[1] not in (None, "own")):
            _refuse("tables of the database alone", name)


def _refuse(expected: str, got: str) -> NoReturn:
    raise SinkRejected(f"queries are read-only: expected {expected}, got {got[:300]}")
