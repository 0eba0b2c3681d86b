"""State of the format of one stream."""

import msgspec

from .survey import Survey

ROWS = 20
"""Newest lines of a template that numbers rest on, as many as reports elsewhere."""


class FormatRow(msgspec.Struct, array_like=True):
    """The numbers of one training report.

    Attributes:
        order: Number of the piece in its stream; pieces of a redrawn line have one line number.
        line: Line number.
        arrival: Arrival, in seconds since 1970.
        stamp: Printed time, in seconds; null without one.
        rank: Rank that a launcher printed before the line; null without one.
        values: Numbers of the compiled columns; null for what is no number.
    """

    order: int
    line: int
    arrival: float
    stamp: float | None
    rank: int | None
    values: list[float | None]


class FormatState(msgspec.Struct):
    """The format of one stream of one rank.

    Attributes:
        survey: Its frequent templates.
        sampled: Whether lines are kept for a question.
        fingerprint: The known format that is applied; empty for none.
        version: Number of changes of the known formats at the last search for a format.
        due: Lines with numbers after which a format is searched for again.
        rows: Newest rows of the training templates, oldest first, by template text.
        pieces: Number of pieces of the stream so far.
        evaluated: Line number of the newest line that the format calls a report of an evaluation.
    """

    survey: Survey = msgspec.field(default_factory=Survey)
    sampled: bool = False
    fingerprint: str = ""
    version: int = 0
    due: int = 0
    rows: dict[str, list[FormatRow]] = {}
    pieces: int = 0
    evaluated: int = 0

    def add_rows(self, text: str, rows: list[FormatRow]) -> None:
        """Add rows of a template; the oldest ones go."""
        self.rows[text] = [*self.rows.get(text, ()), *rows][-ROWS:]
