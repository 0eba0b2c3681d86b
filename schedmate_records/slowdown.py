"""Topic `slowdowns`: slowdowns of packed jobs."""

from .base import Evidence, Record


class Slowdown(Record, frozen=True, kw_only=True):
    """A job runs slower since another was packed with it (SchedMate §4.1). Key: the slowed job.

    Written once more, with `recovered` and an id that ends with `/recovered`, where the packing ended and the job was measured since.

    Attributes:
        id: Follows from the position of the packing event.
        job: The slowed job, which ran first.
        attempt: Its restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        packed_job: Id of the job that was packed later.
        node: Node on which both run.
        time: Arrival of the report that completed the measurement.
        before_s: Median seconds per step before the packing.
        after_s: Seconds per step after the packing: of the newest reports, or of the spans since its warm-up where these are longer.
        ratio: Throughput after over throughput before, `before_s / after_s`.
        threshold: The ratio below which this record is made.
        confidence: Confidence that the ratio is below the threshold, by a rank test; at least 0.95.
        recovered: Throughput after the packing's end over throughput before it; null until that was measured.
        steps_after: Steps that the job made between the packing and the measurement.
        evidence: A report before and a report after.
    """

    id: str
    job: str
    attempt: int = 0
    incarnation: str = ""
    packed_job: str
    node: str = ""
    time: float
    before_s: float
    after_s: float
    ratio: float
    threshold: float
    confidence: float | None = None
    recovered: float | None = None
    steps_after: int
    evidence: list[Evidence] = []
