"""On a real Slurm: what is done to a task of an array leaves the others, what is done to a heterogeneous job moves all its parts."""

from collections.abc import Callable

import pytest

from scheduler_bridge.schedulers import ActuatorError, JobView, SchedulerJobState
from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands
from scheduler_bridge.schedulers.slurm.client.text import parse
from tests.servers.slurm import Slurm

pytestmark = pytest.mark.slurm

ONCE = 'test -n "$SLURM_RESTART_COUNT"'
KEY = "{}/0123456789abcdef"
HET = ("-N1", "-n1", ":", "-N1", "-n1")


@pytest.fixture
def actuator(slurm: Slurm) -> SlurmActuator:
    return SlurmActuator(SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)})))


def seen(actuator: SlurmActuator, job: str) -> JobView:
    found = actuator.job(job)
    assert found
    return found


def tasks(actuator: SlurmActuator, array: str, *numbers: int) -> list[tuple[str, int, tuple[str, ...]]]:
    """Return state, attempt and acts of some tasks of an array."""
    views = [seen(actuator, f"{array}_{number}") for number in numbers]
    return [(view.state.value, view.attempt, view.acts) for view in views]


class TestArrays:
    @pytest.mark.parametrize("act", [SlurmActuator.evict, SlurmActuator.cancel])
    def test_what_is_done_to_a_running_task_leaves_the_others(
        self, slurm: Slurm, actuator: SlurmActuator, act: Callable[[SlurmActuator, str, str], JobView]
    ) -> None:
        array = slurm.submit("sleep 60", "--array=1-4%3", "--output=/dev/null")
        for number in (1, 2, 3):
            slurm.wait(f"{array}_{number}", "RUNNING")
        before = tasks(actuator, array, 1, 3)
        act(actuator, f"{array}_2", KEY.format("evict"))
        assert tasks(actuator, array, 1, 3) == before
        [(_, attempt, acts)] = tasks(actuator, array, 2)
        assert (attempt, acts) == (int(act is SlurmActuator.evict), (KEY.format("evict"),))
        [(_, attempt, acts)] = tasks(actuator, array, 4)
        assert (attempt, acts) == (0, ())
        slurm.run("scancel", array)

    def test_the_last_task_bears_the_arrays_own_number_and_is_evicted_alone(
        self, slurm: Slurm, actuator: SlurmActuator
    ) -> None:
        array = slurm.submit("sleep 60", "--array=1-2", "--output=/dev/null")
        for number in (1, 2):
            slurm.wait(f"{array}_{number}", "RUNNING")
        assert slurm.fields(f"{array}_2")["JobId"] == array
        actuator.evict(f"{array}_2", KEY.format("evict"))
        assert tasks(actuator, array, 1) == [("running", 0, ())]
        assert seen(actuator, f"{array}_2").attempt == 1
        slurm.run("scancel", array)

    def test_a_task_that_waits_with_others_is_held_and_released_alone(
        self, slurm: Slurm, actuator: SlurmActuator
    ) -> None:
        array = slurm.submit("true", "--array=1-3", "--begin=now+1000", "--output=/dev/null")
        hold, release = KEY.format("hold"), KEY.format("release")
        assert actuator.hold(f"{array}_2", hold).state is SchedulerJobState.HELD
        assert tasks(actuator, array, 1, 2, 3) == [("pending", 0, ()), ("held", 0, (hold,)), ("pending", 0, ())]
        assert actuator.release(f"{array}_2", release).state is SchedulerJobState.PENDING
        assert tasks(actuator, array, 1, 2, 3) == [
            ("pending", 0, ()),
            ("pending", 0, (hold, release)),
            ("pending", 0, ()),
        ]
        slurm.run("scancel", array)


class TestHeterogeneousJobs:
    def test_a_failed_one_runs_again_and_each_part_keeps_away_from_the_node(
        self, slurm: Slurm, actuator: SlurmActuator
    ) -> None:
        job = slurm.submit(f"sleep 0.2; {ONCE}", "--hold", *HET)
        slurm.run("scontrol", "update", f"JobId={job}+1", "ExcNodeList=n2")
        slurm.run("scontrol", "release", job)
        slurm.wait(job, "FAILED")
        before = seen(actuator, job)
        assert before.state is SchedulerJobState.FAILED
        suspect = before.nodes[0]
        after = actuator.restart(job, (suspect,), KEY.format("restart"))
        assert (after.attempt, after.job, after.excluded) == (1, job, (suspect,))
        parts = [parse(slurm.run("scontrol", "show", "job", "-o", f"{job}+{part}").split("\n")[0]) for part in (0, 1)]
        assert [set(part.excluded_nodes) for part in parts if part] == [{suspect}, {suspect, "n2"}]
        slurm.wait(job, "COMPLETED")
        assert suspect not in seen(actuator, job).nodes

    def test_a_part_stands_for_the_whole(self, slurm: Slurm, actuator: SlurmActuator) -> None:
        job = slurm.submit("sleep 60", "--no-requeue", *HET)
        slurm.wait(job, "RUNNING")
        assert actuator.evict(f"{job}+1", KEY.format("evict")).attempt == 1
        assert {slurm.fields(f"{job}+{part}")["Restarts"] for part in (0, 1)} == {"1"}
        assert seen(actuator, job).acts == (KEY.format("evict"),)
        slurm.wait(job, "RUNNING")
        assert actuator.cancel(job, KEY.format("cancel")).state is SchedulerJobState.CANCELLED
        assert {slurm.fields(f"{job}+{part}")["JobState"] for part in (0, 1)} == {"CANCELLED"}

    def test_it_is_held_and_released_whole_and_never_unpacked(self, slurm: Slurm, actuator: SlurmActuator) -> None:
        job = slurm.submit("true", "--begin=now+1000", *HET)
        actuator.hold(job, KEY.format("hold"))
        assert {slurm.fields(f"{job}+{part}")["Priority"] for part in (0, 1)} == {"0"}
        actuator.release(job, KEY.format("release"))
        assert "0" not in {slurm.fields(f"{job}+{part}")["Priority"] for part in (0, 1)}
        slurm.run("scancel", job)
        running = slurm.submit("sleep 60", "--gres=shard:2", "-N1", "-n1", ":", "-N1", "-n1", "--gres=shard:2")
        slurm.wait(running, "RUNNING")
        with pytest.raises(ActuatorError, match="packed by shards"):
            actuator.cancel_packing(running, KEY.format("cancel_packing"))
        slurm.run("scancel", running)

    def test_in_the_queue_it_is_one_job(self, slurm: Slurm, actuator: SlurmActuator) -> None:
        first, second = ("-N1", "-n1", "--gres=shard:2"), ("-N1", "-n4", "--gres=shard:4")
        waiting = slurm.submit("true", "--begin=now+1000", *first, ":", *second)
        running = slurm.submit("sleep 60", *first, ":", *second, "--output=/dev/null")
        slurm.wait(running, "RUNNING")
        queue = actuator.queue()
        [found] = [each for each in queue.waiting if each.view.job.startswith(waiting)]
        need = found.need
        assert (found.view.job, need.nodes, need.cpus, need.gpus, found.blocked) == (waiting, 2, 4, 1.0, False)
        [held] = [each for each in queue.running if each.view.job.startswith(running)]
        assert (held.view.job, held.gpus, held.held.keys()) == (running, 1.5, set(held.view.nodes))
        assert (len(held.view.nodes), held.requeueable) == (2, True)
        slurm.run("scancel", waiting, running)


def test_a_word_in_the_comment_keeps_a_job_from_being_restarted(slurm: Slurm, actuator: SlurmActuator) -> None:
    willing = slurm.submit("exit 1", "--comment=schedmate-restart=none of it", "--output=/dev/null")
    opted_out = slurm.submit("exit 1", "--comment=mine schedmate-restart=no", "--output=/dev/null")
    for job in (willing, opted_out):
        slurm.wait(job, "FAILED")
    assert [seen(actuator, job).opted_out for job in (willing, opted_out)] == [False, True]
