"""People over the bridge: approvals, rejections and stops, on real processes."""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest

from schedmate_records import Action, Command, Decision, Mode, OperatorCommand, Outcome, Record
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.commands import Commands
from tests.metric_values import value
from tests.scheduler_bridge.guardrails.test_guardrails import decision

from .findings import NOW, failure
from .test_bridge import ON, LocalSite

APPROVE = BridgeSettings(modes={Action.RESTART: Mode.APPROVE})
WAITING = [Outcome.AWAITING_APPROVAL]


def command(kind: Command, about: str = "", **changes: Any) -> OperatorCommand:
    fields: dict[str, Any] = {
        "id": f"{kind}/{about or 1}",
        "job": "",
        "user": "alice",
        "time": NOW,
        "reason": "the node is being mended",
    }
    return OperatorCommand(command=kind, about=about, **fields | changes)


def word(kind: Command, on: Decision, **changes: Any) -> OperatorCommand:
    return command(kind, on.id, **{"job": on.job, "expires": on.expires} | changes)


@pytest.fixture
def site() -> Iterator[LocalSite]:
    site = LocalSite(APPROVE)
    yield site
    site.cluster.scheduler.close()


def waiting(site: LocalSite) -> Decision:
    """Let a job fail, and return the decision that waits for a person."""
    site.bridge.accept(failure(job=site.failed_job()))
    site.bridge.advance()
    assert site.written.outcomes == WAITING
    (found,) = site.written.decisions
    assert found.mode is Mode.APPROVE
    return found


def attempts(site: LocalSite, about: Decision) -> int:
    seen = site.cluster.scheduler.job(about.job)
    assert seen is not None
    return seen.attempt


def test_a_decision_waits_until_a_person_approves_and_says_who_did(site: LocalSite) -> None:
    about = waiting(site)
    site.bridge.advance()
    assert value(site.bridge.metrics.awaiting_approval) == 1
    site.bridge.accept(word(Command.APPROVE, about))
    assert site.bridge.advance() is None
    assert site.written.outcomes == [*WAITING, Outcome.STARTED, Outcome.DONE]
    assert site.written.results[-1].detail == "approved by alice: the node is being mended"
    assert attempts(site, about) == 1
    assert value(site.bridge.metrics.awaiting_approval) == 0


def test_an_approval_holds_across_restarts_and_acts_once_however_often_it_is_read(site: LocalSite) -> None:
    about = waiting(site)
    approval = word(Command.APPROVE, about)
    for _ in range(3):
        site.bridge = site.new_bridge()
        site.bridge.remember(approval)
        site.bridge.accept(approval)
        site.bridge.accept(word(Command.APPROVE, about, id="another", user="bob"))
        site.bridge.advance()
    assert site.written.outcomes == [*WAITING, Outcome.STARTED, Outcome.DONE]
    assert attempts(site, about) == 1


def test_a_rejection_refuses_and_says_who_and_wins_over_an_approval(site: LocalSite) -> None:
    about = waiting(site)
    site.bridge.remember(word(Command.APPROVE, about))
    site.bridge.accept(word(Command.REJECT, about, user="bob", host="login1", principal="User:ops"))
    site.bridge.advance()
    assert site.written.outcomes == [*WAITING, Outcome.REFUSED]
    assert "rejected by bob on login1 (User:ops)" in site.written.results[-1].detail
    assert attempts(site, about) == 0


@pytest.mark.parametrize(
    "forged",
    [{"about": "restart/other/0/x"}, {"job": "other"}, {"expires": NOW - 1}, {"command": Command.RESUME}],
    ids=lambda changes: next(iter(changes)),
)
def test_what_names_another_decision_another_job_or_comes_too_late_does_nothing(
    site: LocalSite, forged: dict[str, Any]
) -> None:
    about = waiting(site)
    fields = {"command": Command.APPROVE, "about": about.id, "job": about.job, "expires": about.expires} | forged
    site.bridge.accept(OperatorCommand(id="forged", user="mallory", time=NOW, reason="", **fields))  # type: ignore[arg-type]
    site.bridge.advance()
    assert site.written.outcomes == WAITING
    assert attempts(site, about) == 0


def test_what_nobody_approves_expires_and_says_so(site: LocalSite) -> None:
    about = waiting(site)
    site.bridge = site.new_bridge()
    site.clock.now = about.expires + 1
    assert site.bridge.advance() is None
    assert site.written.outcomes == [*WAITING, Outcome.EXPIRED]
    assert "it is not approved yet" in site.written.results[-1].detail


def test_an_approval_does_not_override_guardrails(site: LocalSite) -> None:
    about = waiting(site)
    site.cluster.scheduler.restart(about.job, ())  # a person was quicker
    site.bridge.accept(word(Command.APPROVE, about))
    site.bridge.advance()
    assert site.written.outcomes == [*WAITING, Outcome.REFUSED]


def test_the_stricter_of_two_modes_counts(site: LocalSite) -> None:
    job = site.failed_job()
    strict = Bridge(site.cluster.actuator, APPROVE, site.written, site.clock)
    strict.accept(decision(id="of another", job=job, time=NOW, expires=NOW + 60))
    strict.advance()
    assert site.written.outcomes == WAITING
    lax = Bridge(site.cluster.actuator, ON, site.written, site.clock)
    lax.accept(decision(id="shadow", job=job, mode=Mode.SHADOW))
    lax.advance()
    lax.accept(decision(id="approve", job=job, mode=Mode.APPROVE))
    lax.advance()
    assert site.written.outcomes == [*WAITING, Outcome.SHADOWED, *WAITING]


def test_a_stop_holds_everything_back_until_it_is_lifted(site: LocalSite) -> None:
    site.settings = ON
    stop = command(Command.STOP)
    site.bridge = site.new_bridge()
    site.bridge.remember(stop)
    job = site.failed_job()
    site.bridge.accept(failure(job=job))
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STOPPED]
    assert "stopped by alice: the node is being mended" in site.written.results[0].detail
    assert value(site.bridge.metrics.stops) == 1
    site.bridge = site.new_bridge()
    site.bridge.remember(stop)
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STOPPED], "it is written once"
    site.bridge.accept(command(Command.RESUME, stop.id))
    site.bridge.accept(stop)  # the same stop, read again, stops nothing
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STOPPED, Outcome.STARTED, Outcome.DONE]
    assert value(site.bridge.metrics.stops) == 0


def test_a_stop_that_stands_in_the_topic_is_seen_before_an_action(site: LocalSite) -> None:
    history: list[Record] = []
    bridge = Bridge(site.cluster.actuator, ON, site.written, site.clock, recall=lambda: history)  # type: ignore[arg-type]
    bridge.accept(failure(job=site.failed_job()))
    history.append(command(Command.STOP))  # written by a person, not read by this bridge
    bridge.advance()
    assert site.written.outcomes == [Outcome.STOPPED]


def test_commands_mean_the_same_in_any_order() -> None:
    about = decision()
    said = [
        command(Command.STOP, id="first"),
        command(Command.STOP, id="second", time=NOW + 1),
        command(Command.RESUME, "first"),
        word(Command.APPROVE, about),
    ]
    for order in permutations(said):
        commands = Commands()
        for one in [*order, *order]:
            commands.remember(one)
        assert [stop.id for stop in commands.stops] == ["second"]
        assert commands.approval(about, NOW) is not None
        assert commands.approval(about, about.expires + 1) is None
        commands.forget(about.expires + 86401)
        assert commands.approval(about, NOW) is None
        assert [stop.id for stop in commands.stops] == ["second"], "a stop is never forgotten"
