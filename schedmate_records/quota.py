"""Topic `quotas`: how many GPUs spot jobs may have."""

import msgspec

from .base import Record


class OrganisationDemand(msgspec.Struct, frozen=True, kw_only=True):
    """What the high-priority jobs of one organisation have, and will want in the guaranteed hours. All in GPUs.

    Attributes:
        organisation: Its account, partition, quality of service or user, whichever `spot.organisation` names.
        in_use: What its jobs hold.
        waiting: What its jobs in the queue ask for.
        peak: The most that they held and waited for at once since the last record.
        median: Median of the forecast for the hour in which it is largest; null where nothing is forecast.
        upper: What is not exceeded with the probability `guarantee`, in the hour in which that is largest; null likewise.
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
        gpus: What it asks for.
        held: It is held for that.
        fits: It is held, and fits now: it is to be let go.
        since: Since when it waits, in seconds since 1970.
    """

    job: str
    attempt: int = 0
    incarnation: str = ""
    gpus: float
    held: bool = False
    fits: bool = False
    since: float


class Quota(Record, frozen=True, kw_only=True):
    """The quota of spot jobs for one interval, and what it rests on (GFS, section 3.3). Key: the cluster. The unit is GPUs unless stated.

    Attributes:
        id: `quota/<cluster>/<second>`: one for each interval.
        cluster: The cluster.
        time: Beginning of the interval, in seconds since 1970.
        until: Its end. After it the quota has no effect.
        quota: GPUs that spot jobs may have in all; null where it cannot be determined.
        reason: What bounds it, or why there is none.
        available: What high-priority jobs will not want in the guaranteed hours (Eq. 9).
        safety: The safety coefficient eta (Eq. 11).
        guarantee: Target probability that a spot job is not evicted within the guaranteed hours.
        guaranteed_h: Hours that are guaranteed, and forecast.
        capacity: GPUs of all nodes that are up; null where the scheduler did not report it.
        idle: Those without a job.
        in_use: What high-priority jobs hold.
        waiting: What high-priority jobs in the queue ask for.
        spot_in_use: What spot jobs hold.
        spot_waiting: What spot jobs in the queue ask for.
        eviction_rate: Evictions over evictions and guaranteed periods that were kept, in the last four hours.
        longest_wait_s: For how long the spot job that waits longest has waited, in seconds.
        forecaster: `boosted_trees`; `last_value` where too little is known; `present` where nothing is known and demand is assumed to stay
            as it is; `none` where there is no forecast.
        history_h: Hours of demand that the forecast rests on.
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
