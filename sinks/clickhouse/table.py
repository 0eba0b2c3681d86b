"""A table: the records that it holds and how its columns are filled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from schedmate_records import Record

from .columns import Column, columns_of


@dataclass(frozen=True, eq=False)
class Table:
    """A table and what the writer must know of it.

    Attributes:
        name: Its name.
        record: The type of record that it holds.
        key: The column that its sorting key begins with, a text. A record made twice has the same value there.
        parts: Columns in the place of a field that has none of its own; further columns under the empty name.
        timed: True where a record made twice also has the same `time` (all but what is stamped when it is written).
        columns: All columns that are filled from a record: one for each field, but for `parts`.
    """

    name: str
    record: type[Record]
    key: str = "job"
    parts: Mapping[str, Sequence[Column]] = field(default_factory=dict)
    timed: bool = True
    columns: tuple[Column, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", columns_of(self.record, self.parts))
