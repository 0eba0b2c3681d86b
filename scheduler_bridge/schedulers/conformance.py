"""The rules that hold for every actuator, as tests to inherit.

A test module derives a class, whose name pytest collects, and defines three fixtures:

    class TestMyActuator(ActuatorConformance):
        @pytest.fixture
        def actuator(self): ...
        @pytest.fixture
        def failed_job(self): ...     # the id of a job that has failed; its next attempt keeps running
        @pytest.fixture
        def running_job(self): ...    # the id of a job that runs until it is stopped

pytest is not imported here, so that the package does not depend on it.
"""

from contextlib import suppress

from schedmate_records import Action

from .base import Actuator
from .errors import ActuatorError


class ActuatorConformance:
    """Tests of an actuator.

    Attributes:
        key: The key of the action, in the form that `add_key` and `read_keys` support.
        node: A node that the restarted job does not need.
    """

    key = "restart/0123456789abcdef"
    node = "n1"

    def test_action_is_verified(self, actuator: Actuator, failed_job: str) -> None:
        """Check that `restart` returns what the scheduler shows afterwards."""
        assert actuator.supports(Action.RESTART)
        view = actuator.restart(failed_job, (self.node,), self.key)
        seen = actuator.job(failed_job)
        assert self.node in view.excluded
        assert seen is not None
        assert (seen.attempt, seen.excluded, seen.acts) == (view.attempt, view.excluded, view.acts)

    def test_action_with_a_known_key_is_done_once(self, actuator: Actuator, failed_job: str) -> None:
        """Check that a repeated call starts no further attempt. It may be refused, or return the present view."""
        view = actuator.restart(failed_job, (self.node,), self.key)
        with suppress(ActuatorError):
            actuator.restart(failed_job, (self.node,), self.key)
        seen = actuator.job(failed_job)
        assert seen is not None
        assert (seen.attempt, seen.acts) == (view.attempt, (self.key,))

    def test_job_in_another_state_is_left_alone(self, actuator: Actuator, running_job: str) -> None:
        """Check that the restart of a running job is refused and changes nothing."""
        before = actuator.job(running_job)
        assert before is not None
        try:
            actuator.restart(running_job, (self.node,), self.key)
        except ActuatorError:
            assert actuator.job(running_job) == before
        else:
            raise AssertionError("expected ActuatorError for the restart of a running job, got none")

    def test_unknown_job_is_no_error(self, actuator: Actuator) -> None:
        """Check that `job` returns None for names that no job has, and for names that no job can have."""
        assert actuator.job("nobody-knows") is None
        assert actuator.job("../nobody knows") is None
