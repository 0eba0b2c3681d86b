"""A job that fails again where it failed before is not started again."""

from typing import Any

import pytest

from schedmate_records import Action, Checkpoint, CheckpointState, Failure, Outcome
from scheduler_bridge.guardrails import Context, Objection, first_objection
from scheduler_bridge.ledger import Ledger
from tests.scheduler_bridge.findings import NOW, checkpoint, failure

from .test_guardrails import SETTINGS, decision, tried


def seen(*failures: Failure) -> Context:
    context = Context(Ledger(), SETTINGS, NOW)
    for each in failures:
        context.verdicts.remember(each)
    return context


def then(step: int | None, **changes: Any) -> Failure:
    return failure(step=step, **changes)


def now(step: int | None, **changes: Any) -> Failure:
    return failure(attempt=1, step=step, **changes)


def objection(*failures: Failure) -> Objection | None:
    return first_objection(decision(attempt=1), seen(*failures))


@pytest.mark.parametrize("step", [1000, 940, 0])
def test_a_restart_that_gained_no_step_is_not_repeated(step: int) -> None:
    found = objection(then(1000), now(step))
    assert found is not None
    assert (found.guardrail, found.outcome) == ("progress", Outcome.REFUSED)
    assert (
        found.reason
        == f"job 1 failed with xid_79 at step {step}, the attempt before it at step 1000: no step was gained"
    )


def test_one_that_gained_a_step_may_be() -> None:
    assert objection(then(1000), now(1001)) is None


@pytest.mark.parametrize(
    "failures",
    [
        [],
        [then(1000)],
        [now(900)],
        [then(None), now(900)],
        [then(1000), now(None)],
        [then(1000, epoch=1.0), now(900)],
        [then(1000), now(900, epoch=1.0)],
    ],
)
def test_what_is_not_known_forbids_nothing(failures: list[Failure]) -> None:
    assert objection(*failures) is None


def test_epochs_count_before_steps() -> None:
    assert objection(then(900, epoch=2.0), now(100, epoch=3.0)) is None
    assert objection(then(900, epoch=2.5), now(950, epoch=2.0)) is not None
    found = objection(then(900, epoch=2.0), now(900, epoch=2.0))
    assert found is not None
    assert "at step 900 of epoch 2, the" in found.reason


def test_only_the_same_cause_counts_and_only_the_attempt_before() -> None:
    assert objection(then(1000, signature="nccl_timeout"), now(900)) is None
    assert objection(then(1000), now(900, signature="nccl_timeout")) is None
    assert first_objection(decision(attempt=2), seen(then(1000), now(900), failure(attempt=2, step=900))) is not None
    assert first_objection(decision(attempt=2), seen(then(1000), failure(attempt=2, step=900))) is None
    assert first_objection(decision(attempt=0), seen(then(1000))) is None


def test_other_actions_are_not_concerned() -> None:
    about = decision(attempt=1, action=Action.CANCEL)
    assert first_objection(about, seen(then(1000), now(900))) is None


@pytest.mark.parametrize("silent", [0, 1])
def test_a_lost_node_of_which_the_scheduler_alone_speaks_does_not_count(silent: int) -> None:
    failures = [failure(attempt=each, step=1000, **({"root": None} if each == silent else {})) for each in (0, 1)]
    assert objection(*failures) is None


def test_the_newest_verdict_on_an_attempt_counts_whatever_the_order() -> None:
    retracted = then(1000, revision=2, signature="", root=None)
    further = then(1200, revision=2)
    assert objection(then(1000), retracted, now(900)) is None
    assert objection(retracted, then(1000), now(900)) is None
    assert objection(then(1000), further, now(1100)) is not None
    assert objection(now(1100), further, then(1000)) is not None


def test_an_attempt_that_saved_a_checkpoint_has_gained_something() -> None:
    """Its counter may begin anew with each process, so that it says less than the checkpoint."""

    def saved(attempt: int, state: CheckpointState = CheckpointState.DURABLE) -> Objection | None:
        context = seen(then(1000), now(900))
        found = checkpoint("1", NOW)
        context.saves.remember(Checkpoint(id="c", job="1", attempt=attempt, number=1, state=state, time=NOW, since=NOW))
        context.saves.remember(
            Checkpoint(id=found.id, job="2", attempt=1, number=1, state=found.state, time=0, since=0)
        )
        return first_objection(decision(attempt=1), context)

    assert saved(1) is None
    assert saved(0) is not None
    assert saved(1, CheckpointState.STARTED) is not None


def test_the_attempt_before_may_have_another_id() -> None:
    context = seen(then(1000, attempt=2), failure(job="2", step=900))
    assert first_objection(decision(job="2"), context) is None
    context.ledger.remember(tried(2, seen={"successor": "2"}))
    assert context.ledger.attempt_before("2", 0) == ("1", 2)
    assert first_objection(decision(job="2"), context) is not None
