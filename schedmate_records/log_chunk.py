"""Topics `job-logs` and `node-logs`: chunks of consecutive lines."""

from .base import Record


class Lines(Record, frozen=True, kw_only=True):
    r"""Consecutive pieces of one stream of text.

    A piece ends at `\n`, which is taken off. A progress bar redraws its line with `\r`: such a piece keeps its `\r`, and
    the next piece still belongs to the same line. A line too long for one message is cut; the pieces that go on in
    the next one are named in `cut`. The split depends on the bytes alone, never on time, so that a producer which starts again
    numbers the same pieces in the same way.

    Attributes:
        producer: Name of the producer that numbered the pieces. Numbers are compared only within one producer. A restarted producer keeps
            its name.
            Empty where pieces are not numbered (plain text values, Vector, Fluent Bit).
        seq: Number of this chunk, counted from 0 by the producer.
        first_line: Line number of `lines[0]`, counted from 1, newlines only. 0 where not known.
        first_piece: Number of `lines[0]`, counted from 1, every piece. Grows by one a piece. 0 where not known.
        lines: The pieces. Bytes that are not UTF-8 are written as `\xNN`. Empty: no piece arrived until `time`.
        time: Arrival time of the first piece, in seconds since 1970.
        after_ms: Arrival of each piece after `time`, in milliseconds; empty where all arrived together.
        cut: Indices of pieces that go on in the next piece.
    """

    producer: str = ""
    seq: int = 0
    first_line: int = 0
    first_piece: int = 0
    lines: list[str]
    time: float
    after_ms: list[int] = []
    cut: list[int] = []

    @property
    def last_arrival(self) -> float:
        """When the last piece arrived, in seconds since 1970."""
        return self.time + (self.after_ms[-1] / 1000 if self.after_ms else 0.0)


class LogChunk(Lines, frozen=True, kw_only=True):
    """Lines of one stream of one rank of a job. Key: the job.

    Attributes:
        job: The scheduler's job id.
        attempt: How often the job was started before under this id (Slurm's restart count).
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        node: Host that ran the rank; empty where not known.
        rank: Global rank; 0 for a job of one process.
        stream: `stdout` or `stderr` (`stdout` if both were merged).
    """

    job: str
    attempt: int = 0
    incarnation: str = ""
    node: str = ""
    rank: int = 0
    stream: str = "stdout"


class NodeLogChunk(Lines, frozen=True, kw_only=True):
    """Lines of a node's kernel or system log. Key: the node.

    Attributes:
        node: Host name.
        source: `kernel` or `system`.
    """

    node: str
    source: str = "kernel"
