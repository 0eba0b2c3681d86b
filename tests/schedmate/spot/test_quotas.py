"""Quotas of small clusters, each worked out by hand."""

import math
from datetime import date, datetime

import pytest
from pydantic import ValidationError

from schedmate.settings.settings import load
from schedmate.spot.quotas import Quotas
from schedmate.spot.settings import SpotSettings
from schedmate_records import Action, DecisionResult, Outcome, Quota, check, decode, encode
from scheduler_bridge.schedulers import SchedulerNodeState
from scheduler_bridge.settings import BridgeSettings

from .queues import CLASSES, NOW, node, queue, runs, waits

SETTINGS = SpotSettings()
HOUR = 3600.0


def decided(quotas: Quotas, *jobs: object, now: float = NOW, held: tuple[str, ...] = (), **nodes: object) -> Quota:
    quotas.look(queue(*jobs, **nodes), now)  # type: ignore[arg-type]
    quota = quotas.decide(now, lambda each: each.job in held)
    check(decode(Quota, encode(quota)))
    quotas.acknowledged(quota)
    return quota


def fresh(settings: SpotSettings = SETTINGS, classes: BridgeSettings = CLASSES) -> Quotas:
    return Quotas(settings, classes)


def test_without_history_demand_is_taken_to_stay_as_it_is() -> None:
    quota = decided(
        fresh(), runs("1", "n1", 6), runs("2", "n2", 3.5, spot=True), waits("3", 2, nodes=2), waits("4", 4, spot=True)
    )
    assert (quota.capacity, quota.idle, quota.in_use, quota.waiting) == (16, 6.5, 6, 4)
    assert (quota.spot_in_use, quota.spot_waiting) == (3.5, 4)
    # 16 - 6 = 10 are left, and 6.5 + 3.5 = 10 are idle or have spot jobs.
    assert (quota.available, quota.quota, quota.safety, quota.forecaster) == (10, 10, 1, "present")
    assert "too little is known" in quota.reason
    assert [(each.organisation, each.in_use, each.waiting, each.peak) for each in quota.organisations] == [
        ("lab", 6, 4, 10)
    ]
    assert quota.beyond == []
    assert quota.longest_wait_s == 60
    assert (quota.time, quota.until) == (NOW, NOW + 300)


def test_who_waits_longest_comes_first_and_smaller_ones_fill_the_rest() -> None:
    jobs = [
        waits("late", 2, spot=True, since=NOW - 10),
        waits("first", 6, spot=True, since=NOW - 90),
        waits("large", 8, spot=True, since=NOW - 50),
    ]
    quota = decided(fresh(), runs("1", "n1", 8), *jobs)
    assert quota.quota == 8
    assert [(each.job, each.gpus, each.held, each.fits) for each in quota.beyond] == [("large", 8, False, False)]


def test_who_is_held_is_let_go_once_there_is_room_or_no_quota() -> None:
    quotas = fresh()
    full, none = [runs("1", "n1", 8), runs("2", "n2", 8)], (node("n1", 8, SchedulerNodeState.DOWN),)
    first = decided(quotas, *full, waits("s", 4, spot=True))
    assert [each.job for each in first.beyond] == ["s"]
    second = decided(quotas, *full, now=NOW + 300, held=("s",))
    assert [(each.job, each.held, each.fits) for each in second.beyond] == [("s", True, False)]
    assert (second.spot_waiting, second.longest_wait_s) == (4, 360)
    third = decided(quotas, full[0], now=NOW + 600, held=("s",))
    assert [(each.job, each.held, each.fits) for each in third.beyond] == [("s", True, True)]
    fourth = decided(quotas, full[0], now=NOW + 900, held=("s",), nodes=none)
    assert (fourth.quota, [(each.held, each.fits) for each in fourth.beyond]) == (None, [(True, True)])
    assert decided(quotas, full[0], now=NOW + 1200).beyond == []


@pytest.mark.parametrize(
    ("quotas", "jobs", "nodes", "said"),
    [
        (fresh(classes=BridgeSettings()), [runs("1", "n1", 1)], (node("n1"),), "set bridge.evictable"),
        (fresh(), [runs("1", "n1", 1)], (node("n1", 8, SchedulerNodeState.DRAINING),), "shows no node with GPUs"),
        (fresh(), [], (), "shows no node with GPUs"),
        (fresh(), [runs("1", "n1", 1), waits("7", 1, account="")], (node("n1"),), "(7): set spot.organisation"),
        (fresh(), [runs("8", "n1", 1, account="a\nb")], (node("n1"),), "(8): set spot.organisation"),
    ],
)
def test_there_is_no_quota_where_it_cannot_be_said(
    quotas: Quotas, jobs: list[object], nodes: object, said: str
) -> None:
    quota = decided(quotas, *jobs, waits("s", 99, spot=True), nodes=nodes)
    assert quota.quota is None
    assert said in quota.reason
    assert quota.beyond == []


def test_a_scheduler_that_does_not_answer_is_no_demand_of_nothing() -> None:
    quotas = fresh()
    decided(quotas, runs("1", "n1", 8), now=NOW)
    quotas.lose_sight()
    blind = quotas.decide(NOW + 300, lambda _: True)
    assert (blind.quota, blind.capacity, blind.reason) == (None, None, "the scheduler does not answer")
    quotas.acknowledged(blind)
    assert not quotas.due(NOW + 599)
    assert quotas.due(NOW + 600)


def test_spot_jobs_of_no_organisation_and_jobs_without_gpus_do_not_matter() -> None:
    quota = decided(
        fresh(), runs("1", "n1", 2, spot=True, account=""), runs("2", "n1", 0, account=""), waits("3", 0, account="")
    )
    assert (quota.quota, quota.spot_in_use) == (16, 2)


def test_what_may_not_start_yet_wants_nothing() -> None:
    quota = decided(fresh(), waits("1", 8, since=NOW + 60), waits("2", 8, since=math.inf, spot=True))
    assert (quota.waiting, quota.spot_waiting) == (0, 0)


def day_of(hour: int) -> float:
    """GPUs that the lab wants in an hour: half of the cluster by day, little by night."""
    return 8.0 if 8 <= hour % 24 < 18 else 1.0


def test_two_weeks_of_its_own_records_teach_it_and_a_restart_forgets_nothing() -> None:
    quotas, written = fresh(), []
    start = NOW - NOW % (24 * HOUR)
    for hour in range(15 * 24):
        quota = decided(quotas, runs("1", "n1", day_of(hour)), now=start + hour * HOUR + 300)
        written.append(quota)
    assert (written[3].forecaster, written[20].forecaster, written[-1].forecaster) == (
        "present",
        "last_value",
        "boosted_trees",
    )
    assert written[-1].history_h >= 14 * 24
    [lab] = written[-1].organisations
    assert lab.median is not None
    assert lab.upper is not None
    assert 0 <= lab.median <= lab.upper < 8, "at night the day's demand is not expected"
    # Eight in the morning: it still has 1, and the day before it soon had 8.
    at = start + 15 * 24 * HOUR + 7.9 * HOUR
    restarted = fresh()
    for quota in [*reversed(written), *written]:
        restarted.remember(decode(Quota, encode(quota)))
    both = []
    for each in (quotas, restarted):
        each.look(queue(runs("1", "n1", 1.0)), at)
        both.append(each.decide(at, lambda _: False))
    assert both[0].quota == pytest.approx(both[1].quota, abs=0.5)
    assert both[0].safety == both[1].safety


def test_evictions_make_it_cautious_and_other_clusters_do_not() -> None:
    quotas = fresh()
    for number in range(2):
        quotas.remember(
            DecisionResult(
                id=f"{number}",
                decision_id=f"d{number}",
                action=Action.EVICT,
                job="s",
                time=NOW - 5,
                outcome=Outcome.DONE,
            )
        )
        quotas.remember(
            DecisionResult(
                id=f"r{number}",
                decision_id=f"r{number}",
                action=Action.EVICT,
                job="s",
                time=NOW - 5,
                outcome=Outcome.REFUSED,
            )
        )
    theirs = Quota(
        id="q",
        cluster="other",
        time=NOW + 9e6,
        until=NOW + 9e6,
        capacity=1.0,
        safety=0.3,
        guarantee=0.9,
        guaranteed_h=1,
    )
    quotas.remember(theirs)
    running = [runs(f"{number}", "n1", 1, spot=True, since=NOW - 3700) for number in range(3)]
    running += [runs(f"{number}", "n1", 1, spot=True) for number in range(3, 5)]
    quota = decided(quotas, *running)
    # Two evictions, and three hours that were kept: 0.4, four times what is tolerated.
    assert (quota.eviction_rate, quota.safety) == (0.4, pytest.approx(0.25))
    assert quota.quota == pytest.approx(16 * 0.25)
    assert quota.reason.startswith("the demand")


def test_hours_are_those_of_the_zone_without_summer_time() -> None:
    assert SETTINGS.local_epoch() == datetime(1970, 1, 1)
    assert SpotSettings(time_zone="Asia/Shanghai").local_epoch() == datetime(1970, 1, 1, 8)
    assert SpotSettings(time_zone="Europe/Berlin").local_epoch() == datetime(1970, 1, 1, 1)
    with pytest.raises(ValidationError, match="expected a time zone such as"):
        SpotSettings(time_zone="Mars/Olympus")


def test_holidays_come_from_the_settings_as_text() -> None:
    given = load(flags={"spot.holidays": "2031-05-01,2031-05-02", "spot.time_zone": "Asia/Shanghai"}).settings.spot
    assert given.holidays == (date(2031, 5, 1), date(2031, 5, 2))


def test_who_is_held_is_let_go_after_an_interval_in_which_the_scheduler_did_not_answer() -> None:
    quotas = fresh()
    full = [runs("1", "n1", 8), runs("2", "n2", 8)]
    decided(quotas, *full, waits("s", 4, spot=True))
    quotas.lose_sight()
    quotas.acknowledged(blind := quotas.decide(NOW + 300, lambda _: True))
    assert (blind.quota, blind.beyond) == (None, [])
    again = decided(quotas, full[0], now=NOW + 600, held=("s",))
    assert [(each.job, each.held, each.fits) for each in again.beyond] == [("s", True, True)]


def test_who_was_held_right_after_a_look_that_shows_it_waiting_is_let_go_later() -> None:
    quotas = fresh()
    decided(quotas, runs("1", "n1", 8), runs("2", "n2", 8), waits("s", 4, spot=True))
    fits = decided(quotas, runs("1", "n1", 8), waits("s", 4, spot=True), now=NOW + 300, held=("s",))
    assert fits.beyond == []
    later = decided(quotas, runs("1", "n1", 8), now=NOW + 600, held=("s",))
    assert [(each.job, each.held, each.fits) for each in later.beyond] == [("s", True, True)]


def test_whoever_is_held_is_listed_however_many_wait_longer() -> None:
    quotas = fresh()
    full = [runs("1", "n1", 8), runs("2", "n2", 8)]
    decided(quotas, *full, waits("s", 4, spot=True))
    older = [waits(f"w{number}", 1, spot=True, since=NOW - 1000) for number in range(1000)]
    quota = decided(quotas, *full, *older, now=NOW + 300, held=("s",))
    assert quota.beyond[0].job == "s"
    assert len(quota.beyond) == 1000
