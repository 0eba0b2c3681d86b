"""What is remembered of the format of one stream."""

import msgspec

from ..read.kept import KeptRow
from .survey import Survey

ROWS = 20
"""Newest lines of a template that numbers rest on, as many as reports elsewhere."""


class FormatState(msgspec.Struct):
    """The format of one stream of one rank.

    Attributes:
        survey: Its frequent templates.
        sampled: Whether lines are kept for a question.
        fingerprint: The known format that is applied; empty for none.
        version: Number of changes of the known formats at the last search for a format.
        due: Lines with numbers after which a format is searched for again.
        rows: Newest rows of the training templates, oldest first, by template text. A row holds the numbers of the compiled columns.
    """

    survey: Survey = msgspec.field(default_factory=Survey)
    sampled: bool = False
    fingerprint: str = ""
    version: int = 0
    due: int = 0
    rows: dict[str, list[KeptRow]] = {}

    def add_rows(self, text: str, rows: list[KeptRow]) -> None:
        """Add rows of a template; the oldest ones go."""
        self.rows[text] = [*self.rows.get(text, ()), *rows][-ROWS:]
