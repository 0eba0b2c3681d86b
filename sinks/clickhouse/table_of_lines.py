"""The table of jobs' lines."""

from schedmate_records import Record

from .table import Table


class LogLine(Record, frozen=True, kw_only=True, gc=False):
    """One line of a job, or a part of a line that was too long for one message.

    Attributes:
        id: Identity within the job.
        job: The scheduler's job id.
        attempt: Restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        node: Host of the rank; empty where not known.
        rank: Global rank.
        stream: `stdout` or `stderr`.
        producer: Name of the program that numbered the pieces; empty where they are not numbered.
        piece: Number of the piece; where pieces are not numbered, a number that grows with the place in the topic.
        line: Line number in the stream, counted from 1; 0 where not known.
        time: Arrival time, in seconds since 1970.
        text: The line.
        omitted: Number of lines from here on that were not stored, since the job had reached its quota. `text` is empty then.
    """

    id: str
    job: str
    attempt: int = 0
    incarnation: str = ""
    node: str = ""
    rank: int = 0
    stream: str = "stdout"
    producer: str = ""
    piece: int
    line: int = 0
    time: float
    text: str = ""
    omitted: int = 0


JOB_LINES = Table("job_lines", LogLine)
