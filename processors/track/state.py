"""State of the tracker for one stream of one rank between two chunks."""

import msgspec

from ..formats.state import FormatState
from ..read.events import EventState
from ..read.kept import KeptSeries
from .reports import Report
from .section_scope import SectionState


class TrackState(msgspec.Struct):
    """Newest reports of one stream of one rank, at most a few KB.

    Attributes:
        window: The newest reports of the newest run, oldest first.
        header: Names of the columns of the table under way.
        pending: The last line, where it may be the header of a table that begins in the next chunk.
        loop: What the last line announced, or the bar that it drew.
        named: A report has named its step. Bars without a loss are left out from then on: they may be those of an evaluation.
        loss: The newest loss; null where none was printed, or no number.
        loss_not_finite: The newest loss is no number.
        loss_step: Step at which the newest loss was printed, or since when it is no number; null where no report up to it names one.
        events: The newest events, in a log that prints when training begins and ends.
        kept: The newest numbers of its templates, as long as reports leave something open.
        format: Its frequent templates, and the known format that is applied to them.
        bar: The newest bar without a loss; null before the first that was needed.
        reported_at: Arrival of the newest report that a metric with a speed was made of, in seconds since 1970; 0 where it had none.
    """

    window: list[Report] = []
    header: list[str] = []
    pending: str = ""
    loop: SectionState = msgspec.field(default_factory=SectionState)
    named: bool = False
    loss: float | None = None
    loss_not_finite: bool = False
    loss_step: int | None = None
    events: EventState = msgspec.field(default_factory=EventState)
    kept: KeptSeries = msgspec.field(default_factory=KeptSeries)
    format: FormatState = msgspec.field(default_factory=FormatState)
    bar: Report | None = None
    reported_at: float = 0.0
