import pytest

from records import Action, Decision
from scheduler_bridge import effects
from scheduler_bridge.actuators import JobView, SchedulerJobState

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
