import pytest

from schedmate_records import Action, Decision
from scheduler_bridge import effects
from scheduler_bridge.schedulers import ActuatorError, JobView, SchedulerJobState

from .no_scheduler import NoScheduler

RESTART = Decision(
    id="restart/7/0",
    action=Action.RESTART,
    job="7",
    time=1.0,
    expires=2.0,
    policy="p",
    reason="r",
    exclude_nodes=["n1"],
)


@pytest.mark.parametrize(
    ("state", "nodes", "excluded", "expected"),
    [
        (SchedulerJobState.PENDING, (), ("n1",), True),
        (SchedulerJobState.RUNNING, ("n2", "n3"), ("n0", "n1"), True),
        (SchedulerJobState.RUNNING, ("n2",), (), False),
        (SchedulerJobState.RUNNING, ("n1", "n2"), ("n1",), False),
        (SchedulerJobState.HELD, (), ("n1",), False),
    ],
)
def test_a_restart_is_elsewhere_by_the_nodes_that_the_job_got(
    state: SchedulerJobState, nodes: tuple[str, ...], excluded: tuple[str, ...], expected: bool
) -> None:
    seen = JobView(job="7", state=state, attempt=1, nodes=nodes, excluded=excluded)
    assert effects.shows(RESTART, seen) is expected


class Moves(NoScheduler):
    """A job that is as it is now, whatever was seen before."""

    def __init__(self, state: SchedulerJobState, attempt: int = 0) -> None:
        self.view = JobView("7", state, attempt=attempt)
        self.restarted = False

    def job(self, job: str) -> JobView:
        return self.view

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        self.restarted = True
        return self.view


def test_a_restart_looks_at_the_job_once_more() -> None:
    failed = Moves(SchedulerJobState.FAILED)
    effects.carry_out(failed, RESTART)
    assert failed.restarted


@pytest.mark.parametrize(
    ("state", "attempt"),
    [
        (SchedulerJobState.COMPLETED, 0),
        (SchedulerJobState.RUNNING, 0),
        (SchedulerJobState.CANCELLED, 0),
        (SchedulerJobState.PENDING, 1),
        (SchedulerJobState.FAILED, 1),
        (SchedulerJobState.HELD, 1),
    ],
)
def test_a_job_that_moved_on_since_it_was_examined_is_left_alone(state: SchedulerJobState, attempt: int) -> None:
    moved = Moves(state, attempt)
    with pytest.raises(ActuatorError, match="expected a failed attempt 0"):
        effects.carry_out(moved, RESTART)
    assert not moved.restarted
