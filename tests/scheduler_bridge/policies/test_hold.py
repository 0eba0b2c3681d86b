"""Spot jobs beyond the quota: held once, released once they fit, and only by a bridge that may do both."""

from typing import Any

import pytest

from schedmate_records import Action, BeyondQuota, Mode, Outcome, Quota
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.policies import hold
from tests.scheduler_bridge.findings import NOW, Written
from tests.scheduler_bridge.no_scheduler import NoScheduler

BOTH = BridgeSettings(modes={Action.HOLD: Mode.ACT, Action.RELEASE: Mode.ACT})


def quota(*beyond: BeyondQuota, at: float = NOW, gpus: float | None = 4.0, reason: str = "") -> Quota:
    return Quota(
        id=f"quota/c/{at:.0f}",
        cluster="c",
        time=at,
        until=at + 300,
        quota=gpus,
        reason=reason,
        spot_in_use=3.0,
        safety=1.0,
        guarantee=0.9,
        guaranteed_h=1,
        beyond=list(beyond),
    )


def waiting(job: str = "7", **changes: Any) -> BeyondQuota:
    return BeyondQuota(**{"job": job, "gpus": 2.0, "since": NOW - 60, **changes})


def test_who_does_not_fit_is_held_and_who_fits_is_released() -> None:
    found = hold.decide(
        quota(waiting("1"), waiting("2", held=True), waiting("3", held=True, fits=True), waiting("4", attempt=2)), BOTH
    )
    assert [(each.action, each.job, each.attempt) for each in found] == [
        ("hold", "1", 0),
        ("release", "3", 0),
        ("hold", "4", 2),
    ]
    assert (
        found[0].reason == "The quota of spot jobs is 4 GPUs, of which 3 are in use. Job 1 asks for 2 and does not fit."
    )
    assert (found[0].mode, found[0].expires, found[1].mode) == (Mode.ACT, NOW + 300, Mode.ACT)


def test_a_hold_is_decided_once_in_an_attempt_and_a_release_until_it_is_done() -> None:
    held, again = (hold.decide(quota(waiting(), at=at), BOTH)[0].id for at in (NOW, NOW + 300))
    assert held == again
    fits = waiting(held=True, fits=True)
    first, second, later = (hold.decide(quota(fits, at=at), BOTH)[0].id for at in (NOW, NOW + 300, NOW + 7200))
    assert first == second != later


def test_without_a_quota_the_release_says_why() -> None:
    [found] = hold.decide(quota(waiting(held=True, fits=True), gpus=None, reason="the scheduler rests"), BOTH)
    assert found.reason.endswith("and there is no quota now: the scheduler rests.")


@pytest.mark.parametrize(
    ("modes", "mode"),
    [
        ({Action.HOLD: Mode.ACT}, Mode.SHADOW),
        ({Action.HOLD: Mode.ACT, Action.RELEASE: Mode.APPROVE}, Mode.APPROVE),
        ({Action.RELEASE: Mode.ACT}, Mode.SHADOW),
    ],
)
def test_nobody_is_held_whom_the_bridge_may_not_let_go(modes: dict[Action, Mode], mode: Mode) -> None:
    assert [each.mode for each in hold.decide(quota(waiting()), BridgeSettings(modes=modes))] == [mode]


@pytest.mark.parametrize(("at", "decided"), [(NOW - 301, 0), (NOW + 10, 0), (NOW - 299, 1)])
def test_a_quota_that_is_not_in_force_binds_nobody(at: float, decided: int) -> None:
    written = Written()
    bridge = Bridge(NoScheduler(), BridgeSettings(), written, clock=lambda: NOW)
    bridge.accept(quota(waiting(), at=at))
    bridge.accept(quota(waiting(), at=at))
    assert len(written.decisions) == decided
    bridge.advance()
    assert written.outcomes == [Outcome.SHADOWED] * decided
