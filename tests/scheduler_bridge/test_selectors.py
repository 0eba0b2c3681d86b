"""Classes of jobs that an operator names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate_records import Action, Mode
from scheduler_bridge import BridgeSettings
from scheduler_bridge.schedulers import JobView, NodeView, SchedulerJobState, SchedulerNodeState
from scheduler_bridge.selectors import Selector, SelectorError

JOB = JobView("1", SchedulerJobState.RUNNING, partition="a,b", account="lab", qos="high", user="ada", priority=7)


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("partition=a", True),
        ("partition = b & account=lab", True),
        ("partition=a&account=other", False),
        ("qos=high&priority>=7", True),
        ("priority>=8", False),
        ("user=ada", True),
        ("partition=c", False),
    ],
)
def test_which_jobs(text: str, matches: bool) -> None:
    assert Selector.parse(text).matches(JOB) is matches


def test_a_job_without_a_priority_has_none() -> None:
    assert not Selector.parse("priority>=0").matches(JobView("1", SchedulerJobState.RUNNING))


@pytest.mark.parametrize("text", ["", "partition", "partition=", "name=x", "priority=5", "partition=a&", "user=$(id)"])
def test_what_names_no_class_is_refused(text: str) -> None:
    with pytest.raises(SelectorError, match="partition=NAME"):
        Selector.parse(text)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read = Selector.parse(text)
    except SelectorError:
        return
    assert Selector.parse(str(read)) == read


@pytest.mark.parametrize(
    ("job", "node", "mode"),
    [
        (JobView("1", SchedulerJobState.FAILED, partition="debug"), None, Mode.ACT),
        (JobView("1", SchedulerJobState.FAILED, partition="prod", account="lab"), None, Mode.APPROVE),
        (JobView("1", SchedulerJobState.FAILED, partition="prod"), None, Mode.SHADOW),
        (None, NodeView("n1", SchedulerNodeState.UP, pools=("debug", "prod")), Mode.ACT),
        (None, NodeView("n1", SchedulerNodeState.UP, pools=("prod",)), Mode.SHADOW),
        (None, None, Mode.ACT),
    ],
)
def test_classes_hold_back_and_the_first_counts(job: JobView | None, node: NodeView | None, mode: Mode) -> None:
    action = Action.DRAIN if node else Action.RESTART
    classes = (("partition=debug", Mode.ACT), ("account=lab", Mode.APPROVE), ("*", Mode.SHADOW))
    settings = BridgeSettings(
        modes=dict.fromkeys(Action, Mode.ACT), modes_for={text: {action: to} for text, to in classes}
    )
    assert settings.mode_of(action, job or node) is mode
    assert BridgeSettings(modes_for=settings.modes_for).mode_of(action, job or node) is Mode.SHADOW
