"""Output of rows for all commands that list: a table for people, JSON or CSV for programs.

Where a table is wider than the terminal or `COLUMNS`, rows are shown one below the other, a line for each value, so that
nothing is cut. In a pipe or a file each row is one line.
"""

import csv
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.console import Group, OverflowMethod, RenderableType
from rich.table import Column, Table
from rich.text import Text

from schedmate_records import csv_cell

from ..terminal import ends_unread, one_line
from ..times import ago, local, local_and_ago
from .console import console, print_json, print_line, width_is_told

_WORDS: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (type(None), lambda _: ""),
    (bool, lambda value: "yes" if value else "no"),
    (float, lambda value: f"{value:.6g}"),
    (bytes, lambda value: value.decode(errors="backslashreplace")),
)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per row.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV with a header.")]


def since_option(default: str) -> Any:
    """Return the option `--since` of a command, which goes back as far as `default` if it is not given."""
    return typer.Option(
        metavar="TIME", help="Show only what is newer than this: 90s, 30m, 2h, 7d, or a date.", show_default=default
    )


Since = Annotated[str, since_option("all")]

Row = Sequence[Any]
GAP = 2  # blanks between columns
NARROW = 12
"""Columns that a text gets at least, where it has so many."""


def print_rows(
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    as_json: bool = False,
    as_csv: bool = False,
    header: bool = True,
    empty: str = "no rows",
    relative: bool = True,
    compact: bool = False,
) -> None:
    """Print `rows` as asked for.

    Args:
        columns: Names of the columns.
        rows: The values.
        as_json: Print one JSON object a row.
        as_csv: Print CSV.
        header: Whether CSV begins with the names of the columns. It does not where more rows are added to a table.
        empty: The text for a person if there are no rows.
        relative: Show times as `3 minutes ago`.
        compact: Keep each row in one line of a terminal; what is too long for its column ends in `…`.
    """
    if as_json and as_csv:
        raise typer.BadParameter("--json and --csv exclude each other")
    if as_json:
        import msgspec

        encoder = msgspec.json.Encoder(enc_hook=str)
        for row in rows:
            print_json(encoder.encode(dict(zip(columns, row, strict=True))))
    elif as_csv:
        _print_csv(columns, rows, header=header)
    elif not rows:
        print_line(empty)
    else:
        out = console()
        texts = [[as_text(value, ago if relative else local) for value in row] for row in rows]
        width = out.width if width_is_told() else None
        out.width = max(out.width, sum(map(_widest, zip(columns, *texts, strict=True))) + GAP * len(columns))
        fitted = table(columns, texts, width, compact=True) if compact and width is not None else None
        out.print(
            fitted
            or table(columns, texts, width)
            or blocks(columns, [[as_text(each, local_and_ago) for each in row] for row in rows]),
            width=width,
        )


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None, *, compact: bool = False
) -> Table | None:
    """Return `rows` as a table, without columns that hold nothing; None where it needs more than `width`.

    Words, numbers and ids stay whole; only sentences are folded, between words. With `compact` each row is one line, and what is too long
    for its column ends in `…`.
    """
    kept = [place for place in range(len(columns)) if any(row[place] for row in rows)]
    least = [max(cell_len(columns[place]), *(_least(row[place]) for row in rows)) for place in kept]
    most = [_widest([columns[place], *(row[place] for row in rows)]) for place in kept]
    widths: list[int] | None = most
    if width is not None:
        room = width - GAP * (len(kept) - 1)
        tries = ([min(each, most_least) for each in most] for most_least in (24, 18, 14, 12, 10, 8, 6))
        shares = (_shares(each, most, room) for each in (tries if compact else [least]))
        widths = next((each for each in shares if each is not None), None)
    if widths is None:
        return None
    overflow: OverflowMethod = "ellipsis" if compact else "fold"
    named = zip(kept, widths, strict=True)
    shown = Table(
        *(Column(columns[place], width=share, no_wrap=compact, overflow=overflow) for place, share in named),
        box=None, pad_edge=False, padding=(0, GAP, 0, 0),
    )  # fmt: skip
    for row in rows:
        shown.add_row(*(Text(row[place]) for place in kept))
    return shown


def blocks(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    """Return each row as lines of a name and a value; what holds nothing is left out."""
    shown: list[RenderableType] = []
    for row in rows:
        grid = Table.grid(Column(no_wrap=True, style="bold"), Column(overflow="fold"), padding=(0, GAP, 0, 0))
        for name, value in zip(columns, row, strict=True):
            if value:
                grid.add_row(name, Text(value))
        shown += [*([Text()] if shown else []), grid]
    return Group(*shown)


def _widest(texts: Sequence[str]) -> int:
    return max(map(cell_len, texts))


def _least(text: str) -> int:
    """Return the columns that `text` needs: all of a short one, of a sentence its longest word."""
    if cell_len(text) <= NARROW:
        return cell_len(text)
    return max(NARROW, *map(cell_len, text.split()))


def _shares(least: Sequence[int], most: Sequence[int], width: int) -> list[int] | None:
    """Share `width` out among columns, each between its least and its most; None where the least is too much."""
    spare = width - sum(least)
    if spare < 0:
        return None
    given = list(least)
    wanting = sorted(range(len(least)), key=lambda place: most[place] - least[place])
    for left, place in zip(range(len(wanting), 0, -1), wanting, strict=True):
        more = min(most[place] - least[place], spare // left)
        given[place] += more
        spare -= more
    return given


def _print_csv(columns: Sequence[str], rows: Sequence[Row], *, header: bool) -> None:
    """Print CSV. A text that a spreadsheet would run gets an apostrophe before it, and nothing acts on a terminal."""
    if not columns:  # the embedded engine names no columns where there are no rows
        return
    watched = sys.stdout.isatty()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    with ends_unread():
        for row in (columns, *rows) if header else rows:
            plain = [csv_cell(value.isoformat() if isinstance(value, datetime) else value) for value in row]
            writer.writerow([one_line(str("" if value is None else value)) for value in plain] if watched else plain)


def as_text(value: Any, moment: Callable[[datetime], str]) -> str:
    """Return `value` as one line. What a job printed neither marks up nor moves the terminal's cursor. `moment` words a time."""
    return one_line(_as_text(value, moment))


def _as_text(value: Any, moment: Callable[[datetime], str]) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_as_text(each, moment)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_as_text(each, moment) for each in value)
    if isinstance(value, datetime):
        return moment(value)
    for kind, words in _WORDS:
        if isinstance(value, kind):
            return words(value)
    return str(value)
