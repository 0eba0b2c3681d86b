"""What the bridge does to jobs of a real Ray cluster."""

import threading
import time
import uuid
from pathlib import Path

import pytest

from schedmate_records import Action, Decision, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers import ActuatorError, SchedulerAway, SchedulerJobState, SchedulerNodeState
from scheduler_bridge.schedulers.ray.actuator import RayActuator, RayLimits
from scheduler_bridge.schedulers.ray.client.client import RayClient
from scheduler_bridge.schedulers.ray.client.connection import RayConnection
from scheduler_bridge.schedulers.ray.client.lineage import ACTS, ATTEMPT, LINEAGE, SubmissionName
from tests.scheduler_bridge.findings import Written
from tests.servers import free_port
from tests.servers.ray import GPUS, RayServer

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(900)]

FAILS_ONCE = 'test -n "$SCHEDMATE_ATTEMPT" || exit 3; echo "$SCHEDMATE_JOB_ID $SCHEDMATE_CHECKPOINT"; sleep 600'
WORKERS = Path(__file__).with_name("ray_workers.py")
RUNNING, PENDING, FAILED = SchedulerJobState.RUNNING, SchedulerJobState.PENDING, SchedulerJobState.FAILED
CANCELLED, COMPLETED = SchedulerJobState.CANCELLED, SchedulerJobState.COMPLETED


def key(action: str) -> str:
    return f"{action}/{uuid.uuid4().hex[:16]}"


def name() -> str:
    return f"train-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def actuator(ray_server: RayServer) -> RayActuator:
    return RayActuator(ray_server.client, RayLimits(settle=30))


@pytest.fixture(autouse=True)
def empty(ray_server: RayServer) -> None:
    """Leave nothing that holds the cluster."""
    yield
    for job in ray_server.client.jobs():
        if not job.is_over:
            ray_server.client.stop(job.id)
    # One that waited for what another one held can be stopped only once it has begun.
    ray_server.until(
        lambda: not [ray_server.client.stop(job.id) for job in ray_server.client.jobs() if not job.is_over], "rest"
    )


def test_a_failed_job_restarts_elsewhere_under_its_id(ray_server: RayServer, actuator: RayActuator) -> None:
    job = ray_server.submit(name(), FAILS_ONCE, entrypoint_num_gpus=0.5, runtime_env={"env_vars": {"LR": "3e-4"}})
    ray_server.wait(job, "FAILED")
    (node,) = actuator.job(job).nodes
    mark = key("restart")
    seen = actuator.restart(job, (node,), mark, "/checkpoints/400")
    assert (seen.job, seen.attempt, seen.excluded, seen.acts) == (job, 1, (node,), (mark,))
    made = ray_server.wait(f"{job}.attempt1", "RUNNING")
    now = actuator.job(job)
    assert (now.state, now.attempt) == (RUNNING, 1)
    assert set(now.nodes) == {"n1", "n2"} - {node}
    assert made.metadata == made.metadata | {LINEAGE: job, ATTEMPT: "1", ACTS: f"schedmate:{mark}"}
    assert made.runtime_env["env_vars"]["LR"] == "3e-4"
    assert ray_server.client.supervisor(made.id).required_resources == {"GPU": 0.5}
    log = ray_server.logs / f"job-driver-{made.id}.log"
    ray_server.until(lambda: f"{job} /checkpoints/400" in log.read_text(), "the job knows its id and its checkpoint")


def test_nodes_excluded_before_stay_excluded_and_none_is_left(ray_server: RayServer, actuator: RayActuator) -> None:
    job = ray_server.submit(name(), "exit 3")
    ray_server.wait(job, "FAILED")
    assert actuator.job(job).nodes == ("n1",)  # without resources of its own a driver runs on the head
    assert actuator.restart(job, ("n1",), key("restart")).excluded == ("n1",)
    ray_server.wait(f"{job}.attempt1", "FAILED")
    assert actuator.job(job).nodes == ("n2",)
    again = actuator.restart(job, (), key("restart"))
    assert (again.attempt, again.excluded, len(again.acts)) == (2, ("n1",), 2)
    ray_server.wait(f"{job}.attempt2", "FAILED")
    assert actuator.job(job).nodes == ("n2",)
    with pytest.raises(ActuatorError, match="all are excluded"):
        actuator.restart(job, ("n1", "n2"), key("restart"))


def test_workers_that_read_what_to_avoid_are_elsewhere(ray_server: RayServer, actuator: RayActuator) -> None:
    job = ray_server.submit(name(), f"python {WORKERS} 1 avoid")
    ray_server.wait(job, "FAILED")
    seen = actuator.restart(job, ("n2",), key("restart"))
    assert (seen.state, seen.nodes) == (RUNNING, ("n1",))


def test_workers_that_go_to_an_excluded_node_are_seen(ray_server: RayServer, actuator: RayActuator) -> None:
    job = ray_server.submit(name(), f"python {WORKERS} {2 * GPUS} anywhere")
    ray_server.wait(job, "FAILED")
    assert set(actuator.job(job).nodes) == {"n1", "n2"}
    with pytest.raises(ActuatorError, match="it runs on n2"):
        actuator.restart(job, ("n2",), key("restart"))


def test_a_restart_that_is_asked_for_twice_makes_one_submission(ray_server: RayServer, actuator: RayActuator) -> None:
    job = ray_server.submit(name(), FAILS_ONCE)
    ray_server.wait(job, "FAILED")
    results: list[object] = []

    def ask(mark: str) -> None:
        try:
            results.append(actuator.restart(job, (), mark))
        except ActuatorError as error:
            results.append(error)

    threads = [threading.Thread(target=ask, args=(key("restart"),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(not isinstance(result, ActuatorError) for result in results) == 1
    ids = [one.id for one in ray_server.client.jobs() if SubmissionName.parse(one.id).lineage == job]
    assert sorted(ids) == [job, f"{job}.attempt1"]


def test_the_same_restart_again_is_the_same(ray_server: RayServer, actuator: RayActuator) -> None:
    """The answer to the first request was lost: what asks again finds its own submission."""
    job = ray_server.submit(name(), FAILS_ONCE)
    before = ray_server.wait(job, "FAILED")
    mark = key("restart")
    actuator.restart(job, (), mark)
    forgetful = RayActuator(Forgetful(ray_server.client, before), RayLimits())
    assert forgetful.restart(job, (), mark).acts == (mark,)
    with pytest.raises(ActuatorError, match="somebody else"):
        forgetful.restart(job, (), key("restart"))


class Forgetful:
    """A client that does not see the newest attempt in the list yet."""

    def __init__(self, client: RayClient, job: object) -> None:
        self._client, self._job = client, job

    def jobs(self) -> list[object]:
        return [self._job]

    def __getattr__(self, called: str) -> object:
        return getattr(self._client, called)


def test_an_evicted_job_is_submitted_again(ray_server: RayServer, actuator: RayActuator) -> None:
    job = ray_server.submit(name(), "sleep 600", entrypoint_num_gpus=1, metadata={"team": "vision"})
    ray_server.wait(job, "RUNNING")
    mark = key("evict")
    seen = actuator.evict(job, mark, "/checkpoints/7")
    assert (seen.attempt, seen.acts) == (1, (mark,))
    made = ray_server.wait(f"{job}.attempt1", "RUNNING")
    assert made.metadata["team"] == "vision"
    assert made.runtime_env["env_vars"]["SCHEDMATE_CHECKPOINT"] == "/checkpoints/7"
    assert ray_server.client.job(job).status == "STOPPED"
    assert actuator.job(job).state is RUNNING


def test_an_eviction_with_a_grace_period_begins_at_once(ray_server: RayServer, actuator: RayActuator) -> None:
    job, now = ray_server.submit(name(), "sleep 600"), time.time()
    ray_server.wait(job, "RUNNING")
    written = Written()
    bridge = Bridge(actuator, BridgeSettings(modes={Action.EVICT: Mode.ACT}), written)
    bridge.accept(
        Decision(
            id=f"evict/{job}", action=Action.EVICT, job=job, grace_s=120, time=now, expires=now + 300, mode=Mode.ACT, policy="", reason=""
        )
    )  # fmt: skip
    bridge.advance()
    assert written.outcomes == [Outcome.STARTED, Outcome.DONE], written.results
    ray_server.wait(f"{job}.attempt1", "RUNNING")


def test_what_no_path_is_is_not_told(ray_server: RayServer, actuator: RayActuator) -> None:
    job = ray_server.submit(name(), "exit 3")
    ray_server.wait(job, "FAILED")
    actuator.restart(job, (), key("restart"), "$(touch /tmp/x)")
    made = ray_server.client.job(f"{job}.attempt1")
    assert "SCHEDMATE_CHECKPOINT" not in made.runtime_env["env_vars"]


def test_a_cancelled_job_stays_cancelled(ray_server: RayServer, actuator: RayActuator) -> None:
    job = ray_server.submit(name(), "sleep 600")
    ray_server.wait(job, "RUNNING")
    assert actuator.cancel(job, key("cancel")).state is CANCELLED
    for again in (actuator.cancel, actuator.evict):
        with pytest.raises(ActuatorError, match="cancelled"):
            again(job, key("cancel"))
    with pytest.raises(ActuatorError, match="cancelled"):
        actuator.restart(job, (), key("restart"))


def test_a_job_in_another_state_is_left_alone(ray_server: RayServer, actuator: RayActuator) -> None:
    failed, done, running = (ray_server.submit(name(), what) for what in ("exit 3", "true", "sleep 600"))
    ray_server.wait(failed, "FAILED")
    ray_server.wait(done, "SUCCEEDED")
    ray_server.wait(running, "RUNNING")
    before = [actuator.job(job) for job in (failed, done, running)]
    assert [view.state for view in before] == [FAILED, COMPLETED, RUNNING]
    for job in (failed, done):
        for action in (actuator.evict, actuator.cancel):
            with pytest.raises(ActuatorError):
                action(job, key("evict"))
    for job in (done, running):
        with pytest.raises(ActuatorError):
            actuator.restart(job, (), key("restart"))
    assert [actuator.job(job) for job in (failed, done, running)] == before


def test_what_ray_cannot_do_is_refused(actuator: RayActuator) -> None:
    assert {action for action in Action if actuator.supports(action)} == {
        Action.RESTART,
        Action.EVICT,
        Action.CANCEL,
        Action.NOTIFY,
    }
    with pytest.raises(ActuatorError, match="a scheduler that can drain"):
        actuator.drain("n1", "why", key("drain"))
    with pytest.raises(ActuatorError, match="a scheduler that can hold"):
        actuator.hold("train", key("hold"))


def test_an_unknown_job_is_no_error_and_an_unknown_node_is(ray_server: RayServer, actuator: RayActuator) -> None:
    assert actuator.job("nobody-knows") is None
    assert actuator.job("../../etc") is None
    with pytest.raises(ActuatorError, match="a job that Ray knows"):
        actuator.restart("nobody-knows", (), key("restart"))
    job = ray_server.submit(name(), "exit 3")
    ray_server.wait(job, "FAILED")
    with pytest.raises(ActuatorError, match="a node that Ray knows"):
        actuator.restart(job, ("n9",), key("restart"))


def test_a_job_whose_files_go_with_it_is_not_stopped(ray_server: RayServer, actuator: RayActuator) -> None:
    """A directory that was uploaded with a job is deleted once no job uses it: nothing could be started again."""
    package, empty_zip = f"_ray_pkg_{uuid.uuid4().hex[:16]}.zip", b"PK\5\6" + bytes(18)
    ray_server.client.connection.request("PUT", f"/api/packages/gcs/{package}", empty_zip)
    job = ray_server.submit(name(), "sleep 600", runtime_env={"working_dir": f"gcs://{package}"})
    ray_server.wait(job, "RUNNING")
    with pytest.raises(ActuatorError, match="its files were uploaded with it"):
        actuator.evict(job, key("evict"))
    assert actuator.job(job).state is RUNNING


def test_nodes_and_queue(ray_server: RayServer, actuator: RayActuator) -> None:
    assert {(node.node, node.state) for node in actuator.nodes()} == {
        (node, SchedulerNodeState.UP) for node in ("n1", "n2")
    }
    runs = ray_server.submit(name(), f"python {WORKERS} {GPUS + 1} sleep", metadata={"qos": "low", "priority": "3"})
    gpus = lambda: sum(job.gpus for job in actuator.queue().running)  # noqa: E731
    ray_server.until(lambda: gpus() == GPUS + 1, "the actors hold their GPUs")
    waits = ray_server.submit(name(), "sleep 600", entrypoint_num_gpus=GPUS, metadata={"qos": "urgent"})
    ray_server.until(lambda: any(one.view.job == waits for one in actuator.queue().waiting), "the other one waits")
    queue = actuator.queue()
    (waiting,) = [one for one in queue.waiting if one.view.job == waits]
    assert (waiting.need.gpus, waiting.blocked, waiting.view.qos) == (GPUS, True, "urgent")
    (running,) = [one for one in queue.running if one.view.job == runs]
    assert (running.view.qos, running.view.priority, running.view.user) == ("low", 3, "")
    assert {(node.view.node, node.gpus) for node in queue.nodes} == {("n1", GPUS), ("n2", GPUS)}
    ray_server.client.stop(runs)


def test_a_head_that_is_away_is_said_to_be(ray_server: RayServer) -> None:
    away = RayActuator(RayClient(RayConnection(f"http://127.0.0.1:{free_port()}", timeout=2)))
    with pytest.raises(SchedulerAway):
        away.job("train")
    stranger = RayActuator(RayClient(RayConnection(ray_server.address, "wrong" * 8)))
    with pytest.raises(ActuatorError, match="RAY_AUTH_TOKEN"):
        stranger.job("train")
