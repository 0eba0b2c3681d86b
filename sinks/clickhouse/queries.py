"""The canned questions: each a file in `queries/`, with what it asks and which parameters it takes in its leading comment."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import Any

from clickhouse_connect.driver.client import Client

from ..errors import SinkRejected
from .faults import translated_errors
from .incarnations import find_job


@dataclass(frozen=True)
class Parameter:
    """A value that a question takes: its ClickHouse type, and its default (None: it must be given)."""

    name: str
    type: str
    default: str | None
    about: str


@dataclass(frozen=True)
class Query:
    """A canned question. `name` is that of its file."""

    name: str
    title: str
    about: str
    parameters: tuple[Parameter, ...]
    sql: str


@dataclass(frozen=True)
class QueryResult:
    """Result of a query: names of the columns, and rows."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@cache
def queries() -> Mapping[str, Query]:
    """Return all canned questions by name."""
    found = [file for file in files(__package__).joinpath("queries").iterdir() if file.name.endswith(".sql")]
    return {
        query.name: query
        for query in sorted((_read(f.name[:-4], f.read_text("utf-8")) for f in found), key=lambda q: q.name)
    }


def _read(name: str, text: str) -> Query:
    title = re.search(r"^-- title: (.+)$", text, flags=re.MULTILINE)
    about = re.search(r"^-- about: (.+)$", text, flags=re.MULTILINE)
    if title is None or about is None:
        raise ValueError(f"expected queries/{name}.sql to begin with '-- title: …' and '-- about: …'")
    parameters = tuple(
        Parameter(*found.groups())
        for found in re.finditer(r"^-- param (\w+) (\w+)(?: = (\S*))?: (.+)$", text, flags=re.MULTILINE)
    )
    sql = "\n".join(line for line in text.splitlines() if not line.startswith("-- ")).strip().rstrip(";")
    return Query(name, title.group(1), about.group(1), parameters, sql)


def run(client: Client, name: str, given: Mapping[str, str] | None = None) -> QueryResult:
    """Return the answer to the question `name`.

    Args:
        client: Of a migrated database.
        name: One of `queries()`.
        given: Values of its parameters, as text. The server reads them by the parameter's type; they never become SQL.

    Raises:
        SinkRejected: No such question or parameter, one that is missing, a value that is not of its type, or no tables.
        SinkUnavailable: The server is away.
    """
    query, values = checked(name, given or {})
    if "{incarnation:" in query.sql or "{since:" in query.sql:
        values |= find_job(client, values["job"]).values()
    return ask(client, query.sql, values)


def checked(name: str, given: Mapping[str, str]) -> tuple[Query, dict[str, str]]:
    """Return the question `name` and the values of all its parameters, before any server is asked.

    Raises:
        SinkRejected: No such question or parameter, one that is missing, or a value that is not of its type.
    """
    query = queries().get(name)
    if query is None:
        near = difflib.get_close_matches(name, queries(), n=1)
        raise SinkRejected(
            f"no query {name!r}; did you mean {near[0]}?"
            if near
            else f"expected a query, one of {', '.join(queries())}; got {name!r}"
        )
    values = dict(given)
    unknown = sorted(set(values) - {parameter.name for parameter in query.parameters})
    if unknown:
        takes = ", ".join(parameter.name for parameter in query.parameters) or "no parameters"
        raise SinkRejected(f"query {name} takes {takes}; got {', '.join(unknown)}")
    # Not every text is of these types.
    restricted = {"UInt32": "a whole number from 0 on", "Float64": "a number"}
    for parameter in query.parameters:
        if parameter.name not in values:
            if parameter.default is None:
                raise SinkRejected(f"query {name} needs {parameter.name} ({parameter.type}): {parameter.about}")
            values[parameter.name] = parameter.default
        value, expected = values[parameter.name], restricted.get(parameter.type)
        if expected and not _is_of(parameter.type, value):
            raise SinkRejected(
                f"query {name}: expected {expected} for {parameter.name} ({parameter.about}), got {value!r}"
            )
    return query, values


def _is_of(kind: str, text: str) -> bool:
    if kind == "UInt32":
        return text.isascii() and text.isdecimal() and int(text[:20]) < 1 << 32
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def ask(
    client: Client, sql: str, values: Mapping[str, str | list[str]] | None = None, *, typed: bool = False
) -> QueryResult:
    """Return the answer to `sql`, with `values` (a list for an `Array(String)`) bound to its `{name:Type}` parameters.

    Args:
        client: Client of the database.
        sql: The query.
        values: Values of its parameters.
        typed: A person typed the query: unknown names in it are the person's.

    Raises:
        SinkRejected: The server refuses it; the message states why.
        SinkUnavailable: The server is away.
    """
    with translated_errors("asking ClickHouse", typed=typed):
        result = client.query(sql, parameters=dict(values or {}))
    return QueryResult(result.column_names, result.result_rows)
