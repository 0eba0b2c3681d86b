"""Topic `job-metrics`: progress of jobs."""

import msgspec

from .base import Evidence, Record


class OverRanks(msgspec.Struct, frozen=True, kw_only=True):
    """Step times over the ranks of a job.

    Attributes:
        ranks: How many ranks were measured lately.
        step_time_s: Of the job: the median over the ranks.
        spread: Longest less shortest, over the median.
        slowest: The rank with the longest step time.
        lag: Its step time over the median; ranks that wait for one another all show 1.
    """

    ranks: int
    step_time_s: float
    spread: float
    slowest: int
    lag: float


class JobMetric(Record, frozen=True, kw_only=True):
    """Progress of one rank of a job, from the newest reports in its log. Key: the job. Unknown is null, never a guess.

    Attributes:
        id: Follows from the input position.
        job: The scheduler's job id.
        attempt: Restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        node: Host of the rank.
        rank: Global rank.
        time: Arrival of the newest report, in seconds since 1970.
        step: Training step (iteration) of the newest report.
        step_name: Name of that counter, as printed; empty where it has none, as that of a bar.
        step_total: The end of that counter, `N` in `step k/N`: of the whole training or of an epoch.
        epoch: Epoch of the newest report.
        epoch_total: The end of that counter, `N` in `epoch k/N`.
        left_s: Remaining seconds as the log states them: of the whole training or of an epoch.
        step_time_s: Seconds per training iteration: the median over the newest reports without outliers.
        throughput: Median throughput, in `throughput_unit`.
        throughput_unit: `samples/s`, `tokens/s`, `it/s`, with `/gpu` where the log gives it per device.
        loss: Newest training loss that was printed; null also where it is no number.
        loss_not_finite: The newest loss is printed and is NaN or infinite.
        loss_step: Training step at which that loss was printed, which may be an earlier one than `step`; of a loss that is no number, the
            step since when it is none. Null where not known.
        confidence: 0 to 1.
        method: How step time was obtained: `stated`, `rate`, `timestamps`, `arrival`, `model` (stated, by a language
            model's reading that the clock confirms) or `unknown`.
        reports: Number of reports used for the medians.
        since: Arrival of the oldest of those reports, in seconds since 1970.
        since_step: Its training step.
        over_ranks: The job's step time over all its ranks; null for one rank, and in most records of many ranks.
        evidence: The newest report's line; and the oldest, where the number is a difference; and where losses begin to be no finite
            numbers, the first of them.
    """

    id: str
    job: str
    attempt: int = 0
    incarnation: str = ""
    node: str = ""
    rank: int = 0
    time: float
    step: int | None = None
    step_name: str = ""
    step_total: int | None = None
    epoch: float | None = None
    epoch_total: int | None = None
    left_s: float | None = None
    step_time_s: float | None = None
    throughput: float | None = None
    throughput_unit: str | None = None
    loss: float | None = None
    loss_not_finite: bool = False
    loss_step: int | None = None
    confidence: float = 0.0
    method: str = "unknown"
    reports: int = 0
    since: float | None = None
    since_step: int | None = None
    over_ranks: OverRanks | None = None
    evidence: list[Evidence] = []
