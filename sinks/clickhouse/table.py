"""A table: the records that it holds and how its columns are filled."""

from dataclasses import dataclass

from schedmate_records import Record

from .columns import Column


@dataclass(frozen=True)
class Table:
    """A table and what the writer must know of it.

    Attributes:
        name: Its name.
        record: The type of record that it holds.
        columns: All columns that are filled from a record; `id` first.
        key: The column that its sorting key begins with, a text. A record made twice has the same value there.
        timed: True where a record made twice also has the same `time` (all but what is stamped when it is written).
    """

    name: str
    record: type[Record]
    columns: tuple[Column, ...]
    key: str
    timed: bool = True
