"""Topic `quotas`: quotas of spot jobs."""

import msgspec

from .base import Record


class OrganisationDemand(msgspec.Struct, frozen=True, kw_only=True):
    """Current and forecast demand of the high-priority jobs of one organisation, in GPUs.

    Attributes:
        organisation: Its account, partition, quality of service or user, whichever `spot.organisation` names.
        in_use: GPUs held by its jobs.
        waiting: GPUs requested by its waiting jobs.
        peak: Maximum of held and requested GPUs since the last record.
        median: Median of the forecast for the hour in which it is largest; null without a forecast.
        upper: `guarantee` quantile of the forecast for the hour in which it is largest; null without a forecast.
    """

    organisation: str
    in_use: float = 0.0
    waiting: float = 0.0
    peak: float = 0.0
    median: float | None = None
    upper: float | None = None


class BeyondQuota(msgspec.Struct, frozen=True, kw_only=True):
    """A spot job that waits and does not fit into the quota, or is held because it did not.

    Attributes:
        job: The scheduler's job id.
        attempt: Its restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        gpus: Requested GPUs.
        held: Whether it is held for that reason.
        fits: Whether it is held and fits now, so that it is released.
        since: Start of its waiting time, in seconds since 1970.
    """

    job: str
    attempt: int = 0
    incarnation: str = ""
    gpus: float
    held: bool = False
    fits: bool = False
    since: float


class Quota(Record, frozen=True, kw_only=True):
    """The quota of spot jobs for one interval, and its inputs (GFS, section 3.3). Key: the cluster. The unit is GPUs unless stated.

    Attributes:
        id: `quota/<cluster>/<second>`: one for each interval.
        cluster: The cluster.
        time: Beginning of the interval, in seconds since 1970.
        until: Its end. After it the quota has no effect.
        quota: Total GPUs that spot jobs may use; null where it cannot be determined.
        reason: What limits it, or why there is none.
        available: GPUs that high-priority jobs will not use in the guaranteed hours (Eq. 9).
        safety: The safety coefficient eta (Eq. 11).
        guarantee: Target probability that a spot job is not evicted within the guaranteed hours.
        guaranteed_h: Number of guaranteed and forecast hours.
        capacity: GPUs of all nodes that are up; null where the scheduler did not report it.
        idle: GPUs without a job.
        in_use: GPUs held by high-priority jobs.
        waiting: GPUs requested by waiting high-priority jobs.
        spot_in_use: GPUs held by spot jobs.
        spot_waiting: GPUs requested by waiting spot jobs.
        eviction_rate: Evictions over evictions and guaranteed periods that were kept, in the last four hours.
        longest_wait_s: Longest waiting time of a spot job, in seconds.
        forecaster: `boosted_trees`; `last_value` if the history is short; `present` if there is none and demand is assumed constant;
            `none` without a forecast.
        history_h: Hours of demand used for the forecast.
        organisations: Demand by organisation, the largest first.
        beyond: Spot jobs that do not fit into the quota, and those that are held for that.
    """

    id: str
    cluster: str
    time: float
    until: float
    quota: float | None = None
    reason: str = ""
    available: float | None = None
    safety: float
    guarantee: float
    guaranteed_h: int
    capacity: float | None = None
    idle: float | None = None
    in_use: float | None = None
    waiting: float | None = None
    spot_in_use: float | None = None
    spot_waiting: float | None = None
    eviction_rate: float | None = None
    longest_wait_s: float | None = None
    forecaster: str = "none"
    history_h: int = 0
    organisations: list[OrganisationDemand] = []
    beyond: list[BeyondQuota] = []
