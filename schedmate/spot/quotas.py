"""From looks at the queue to a quota for each interval. It restores its past from its own records."""

from collections.abc import Callable, Sequence

import msgspec

from processors.spot.demand_log import DemandLog
from processors.spot.estimator import DemandEstimator
from processors.spot.kept_hours import Span, merge_spans
from processors.spot.manager import Gfs, SpotQuota
from processors.spot.settings import HOUR, GfsSettings
from schedmate_records import Action, BeyondQuota, DecisionResult, OrganisationDemand, Outcome, Quota
from scheduler_bridge.schedulers import Queue
from scheduler_bridge.settings import BridgeSettings

from .census import Census, gpus_wanted, take_census
from .settings import SpotSettings
from .view import LiveView

LISTED = 1000
"""Organisations, and spot jobs beyond the quota, that a record names at most: it has to fit into a message."""

IsHeld = Callable[[BeyondQuota], bool]
"""Whether a job that was beyond the last quota is held for that now, as the scheduler shows it."""


class Quotas:
    """The quotas of one cluster. Holds no more than `history_days` of hours, and the runs and evictions of spot jobs in the last four.

    Args:
        settings: What the operator set.
        classes: Which jobs are spot jobs.
    """

    def __init__(self, settings: SpotSettings, classes: BridgeSettings) -> None:
        self._settings, self._classes = settings, classes
        parameters = GfsSettings(
            guarantee=settings.guarantee,
            guaranteed_h=settings.guaranteed_hours,
            update_every_s=settings.update_seconds,
        )
        start = settings.local_epoch()
        self._gfs = Gfs(start, parameters, DemandEstimator(start, holidays=settings.holidays))
        self._log = DemandLog(24 * settings.history_days)
        self._last: Quota | None = None
        self._informed: list[Quota] = []
        self._census: Census | None = None
        self._peaks: dict[str, float] = {}
        self._runs: dict[tuple[str, int], Span] = {}
        self._evictions: dict[str, float] = {}

    def remember(self, record: Quota | DecisionResult) -> None:
        """Take in a quota of this cluster, or what became of a decision; in any order, any number of times."""
        if isinstance(record, DecisionResult):
            if record.action is Action.EVICT and record.outcome is Outcome.DONE:
                self._evictions[record.decision_id] = record.time
            return
        if record.cluster != self._settings.cluster:
            return
        if record.capacity is not None:
            # The peak is of the interval that ended when the record was made.
            self._log.observe(record.time - 1, {each.organisation: each.peak for each in record.organisations})
            newest = {known.time: known for known in (*self._informed, record)}
            # Jobs beyond the newest two quotas may be held. One alone does not do: a job may be held right after the
            # look that shows it waiting, and fitting; and one that was made while the scheduler did not answer names
            # none.
            self._informed = [newest[time] for time in sorted(newest)[-2:]]
        if self._last is None or record.time > self._last.time:
            self._last = record
            self._gfs.safety = record.safety

    def look(self, queue: Queue, now: float) -> None:
        """Take in what the scheduler shows."""
        self._census = take_census(queue, self._settings.organisation, self._classes, now)
        for organisation, gpus in self._census.demand().items():
            self._peaks[organisation] = max(gpus, self._peaks.get(organisation, 0.0))
        since = now - HOUR * self._gfs.settings.eviction_window_h
        running = {(job.view.job, job.view.attempt): job.since for job in self._census.spot_running}
        self._runs = merge_spans(self._runs, running, now, since)
        self._evictions = {each: at for each, at in self._evictions.items() if at > since}

    def due(self, now: float) -> bool:
        """Is there no quota yet for the present interval?"""
        return self._last is None or self._begins(now) > self._last.time

    def lose_sight(self) -> None:
        """Forget the last look: the scheduler does not answer, and what it showed is no longer known to be so."""
        self._census = None

    def decide(self, now: float, is_held: IsHeld) -> Quota:
        """Return the quota for the present interval. It takes effect once it is remembered."""
        census = self._census
        if census is None:
            return self._record(now, reason="the scheduler does not answer")
        held = self._held_beyond(census, is_held)
        if reason := self._why_none(census):
            return self._record(now, census, held=held, reason=reason)
        view = LiveView(
            now=now,
            census=census,
            past=self._log.past_peaks(now),
            runs=tuple(self._runs.values()),
            evictions=tuple(self._evictions.values()),
            held_since=[each.since for each in held],
        )
        return self._record(now, census, self._gfs.assess(view), held)

    def acknowledged(self, quota: Quota) -> None:
        """Note that a quota was written: a new interval begins."""
        self.remember(quota)
        self._peaks = {}

    def _held_beyond(self, census: Census, is_held: IsHeld) -> list[BeyondQuota]:
        """Return who was beyond one of the last quotas, is no longer in the queue, and is held."""
        running, waiting = census.spot_running, census.spot_waiting
        seen = {job.view.job for job in running} | {job.view.job for job in waiting}
        listed = {each.job: each for quota in self._informed for each in quota.beyond if each.job not in seen}
        return [msgspec.structs.replace(each, held=True) for each in listed.values() if is_held(each)]

    def _begins(self, now: float) -> float:
        step = self._settings.update_seconds
        return now // step * step

    def _why_none(self, census: Census) -> str:
        if not self._classes.evictable:
            return "no class of spot jobs is named: set bridge.evictable"
        if not census.capacity:
            return "the scheduler shows no node with GPUs that is up"
        if census.nameless:
            jobs = ", ".join(census.nameless[:5])
            return (
                f"{len(census.nameless)} high-priority jobs with GPUs have no {self._settings.organisation} "
                f"({jobs}): set spot.organisation to what every job has"
            )
        return ""

    def _record(
        self,
        now: float,
        census: Census | None = None,
        found: SpotQuota | None = None,
        held: Sequence[BeyondQuota] = (),
        reason: str = "",
    ) -> Quota:
        settings, begins = self._settings, self._begins(now)
        quota = Quota(
            id=f"quota/{settings.cluster}/{begins:.0f}",
            cluster=settings.cluster,
            time=begins,
            until=begins + settings.update_seconds,
            reason=reason,
            safety=self._gfs.safety,
            guarantee=settings.guarantee,
            guaranteed_h=settings.guaranteed_hours,
        )
        if census is None:
            return quota
        return _with_census(quota, census, found, self._peaks, held)


def _with_census(
    quota: Quota,
    census: Census,
    found: SpotQuota | None,
    peaks: dict[str, float],
    held: Sequence[BeyondQuota],
) -> Quota:
    changes: dict[str, object] = {
        "capacity": census.capacity,
        "idle": census.idle,
        "in_use": sum(census.in_use.values()),
        "waiting": sum(census.waiting.values()),
        "spot_in_use": census.spot_gpus,
        "spot_waiting": sum(map(gpus_wanted, census.spot_waiting)) + sum(each.gpus for each in held),
        "organisations": _organisations(census, found, peaks),
        # Without a quota no job is held for it.
        "beyond": [msgspec.structs.replace(each, fits=True) for each in held],
    }
    if found is not None:
        changes |= {
            "quota": found.gpus,
            "reason": _what_binds(found, census),
            "available": found.available,
            "eviction_rate": found.eviction_rate,
            "longest_wait_s": found.longest_wait_s,
            "forecaster": found.forecast.forecaster,
            "history_h": found.forecast.hours,
            "beyond": _beyond_quota(found.gpus, census, held),
        }
    return msgspec.structs.replace(quota, **changes)


def _what_binds(found: SpotQuota, census: Census) -> str:
    free = census.idle + census.spot_gpus
    bound = (
        "GPUs that are idle or have spot jobs bound it"
        if free <= found.available * found.safety
        else "the demand of high-priority jobs that is forecast bounds it"
    )
    if found.forecast.forecaster == "present":
        return f"{bound}; too little is known for a forecast: demand is taken to stay as it is"
    return bound


def _organisations(census: Census, found: SpotQuota | None, peaks: dict[str, float]) -> list[OrganisationDemand]:
    rows = {name: row for row, name in enumerate(found.forecast.organisations)} if found else {}
    names = census.in_use.keys() | census.waiting.keys() | peaks.keys() | rows.keys()
    forecasts = []
    for name in names:
        row = rows.get(name)
        forecast = found.forecast if found and row is not None else None
        forecasts.append(
            OrganisationDemand(
                organisation=name,
                in_use=census.in_use.get(name, 0.0),
                waiting=census.waiting.get(name, 0.0),
                peak=peaks.get(name, 0.0),
                median=float(forecast.median[row].max()) if forecast else None,
                upper=float(forecast.upper[row].max()) if forecast else None,
            )
        )
    return sorted(forecasts, key=lambda each: (-each.peak, -(each.upper or 0.0), each.organisation))[:LISTED]


def _beyond_quota(gpus: float, census: Census, held: Sequence[BeyondQuota]) -> list[BeyondQuota]:
    """Return who does not fit, and who is held: in the order of their waits, each takes what is left where it fits."""
    waiting = [
        BeyondQuota(
            job=job.view.job,
            attempt=job.view.attempt,
            incarnation=job.view.incarnation,
            gpus=gpus_wanted(job),
            since=job.since,
        )
        for job in census.spot_waiting
    ]
    left, beyond = gpus - census.spot_gpus, []
    for each in sorted([*waiting, *held], key=lambda each: (each.since, each.job)):
        if each.gpus <= left:
            left -= each.gpus
            if each.held:
                beyond.append(msgspec.structs.replace(each, fits=True))
        else:
            beyond.append(msgspec.structs.replace(each, fits=False))
    beyond.sort(key=lambda each: not each.held)  # a held job that is not listed is never released
    return beyond[:LISTED]
