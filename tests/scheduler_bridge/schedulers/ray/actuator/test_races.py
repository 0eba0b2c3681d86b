"""What happens on a real Ray cluster while the bridge acts: jobs end, are stopped and deleted, bridges and the head die."""

import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from schedmate_records import Action, Decision, DecisionResult, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers.ray.actuator import RayActuator, RayLimits
from scheduler_bridge.schedulers.ray.client.client import RayClient
from scheduler_bridge.schedulers.ray.client.connection import RayConnection
from scheduler_bridge.schedulers.ray.client.errors import RayError
from scheduler_bridge.schedulers.ray.client.lineage import INTENT, SubmissionName
from scheduler_bridge.schedulers.ray.client.objects import RayJob
from tests.scheduler_bridge.findings import Written
from tests.servers import races
from tests.servers.ray import RayServer

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(5400)]

OPTIONS = BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT), actions_per_hour=1000, user_share=1.0)
FAILS_ONCE = 'test -n "$SCHEDMATE_ATTEMPT" || exit 3'
RUNS_ONCE = 'test -n "$SCHEDMATE_ATTEMPT" || sleep 600'
RACES = races(36)
WITHIN_S = 600.0
"""A race that takes longer counts as one that never ended."""
CHANGES = ("POST", "DELETE")


class Killed(BaseException):
    """The end of a bridge: nothing in it catches this."""


class Mortal:
    """A connection that dies after so many requests that change something, 0: right before the first."""

    def __init__(self, connection: RayConnection, lives: int) -> None:
        self.connection, self.lives = connection, lives

    def request(self, method: str, path: str, body: bytes | None = None) -> bytes:
        if method in CHANGES and self.lives == 0:
            raise Killed
        answer = self.connection.request(method, path, body)
        if method in CHANGES:
            self.lives -= 1
            if self.lives == 0:
                raise Killed
        return answer


def decided(action: Action, job: str) -> Decision:
    now = time.time()
    return Decision(
        id=f"{action}/{job}", action=action, job=job, time=now, expires=now + 600, mode=Mode.ACT, policy="p", reason="r"
    )


def carry_out(client: RayClient, written: Written, seconds: float = WITHIN_S) -> DecisionResult:
    """Let a bridge that knows what was written bring it to its end, and return the last result."""
    bridge = Bridge(RayActuator(client, RayLimits(settle=5)), OPTIONS, written)
    for record in (*written.decisions, *written.results):
        bridge.remember(record)
    deadline = time.monotonic() + seconds
    while bridge.open_decisions:
        assert time.monotonic() < deadline, written.results
        bridge.advance()
        time.sleep(0.05)
    return written.results[-1]


def attempts(server: RayServer, job: str) -> dict[int, RayJob]:
    return {
        SubmissionName.parse(one.id).attempt: one
        for one in server.client.jobs()
        if SubmissionName.parse(one.id).lineage == job
    }


@pytest.mark.parametrize(("action", "changes"), [(Action.RESTART, 1), (Action.EVICT, 3)])
def test_what_was_cut_off_anywhere_is_finished_once(ray_server: RayServer, action: Action, changes: int) -> None:
    """The bridge dies before the first request that changes something, and after each of them."""
    entrypoint, state = (FAILS_ONCE, "FAILED") if action is Action.RESTART else (RUNS_ONCE, "RUNNING")

    def cut_off(lives: int) -> None:
        job = ray_server.submit(f"cut-{uuid.uuid4().hex[:8]}", entrypoint)
        ray_server.wait(job, state)
        written = Written()
        connection = Mortal(ray_server.client.connection, lives)
        bridge = Bridge(RayActuator(RayClient(connection), RayLimits()), OPTIONS, written)  # type: ignore[arg-type]
        written(decision := decided(action, job))
        bridge.accept(decision)
        with pytest.raises(Killed):
            bridge.advance()
        assert written.outcomes == [Outcome.STARTED]
        assert carry_out(ray_server.client, written).outcome is Outcome.DONE, (lives, written.results)
        ray_server.wait(f"{job}.attempt1", "SUCCEEDED")
        assert sorted(attempts(ray_server, job)) == [0, 1]

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(cut_off, range(changes + 1)))


def test_nothing_is_done_wrongly_or_twice_in_races(ray_server: RayServer) -> None:
    """Each race pits a decision against somebody else. What Ray holds afterwards and what the bridge says of it must agree."""
    chance = random.Random(11)
    kinds = list(RACE.values())
    outcomes: Counter[str] = Counter()

    def race(number: int) -> None:
        kind, delay = kinds[number % len(kinds)], chance.uniform(0, 1.5)
        try:
            outcomes[f"{kind.__name__}: {kind(ray_server, delay)}"] += 1
        except AssertionError as error:
            raise AssertionError(f"race {number}, {kind.__name__}, after {delay:.2f} s") from error

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(race, range(RACES)))
    print("\n".join(f"{number:3d} {what}" for what, number in sorted(outcomes.items())))
    assert outcomes.total() == RACES
    assert not [job.id for job in ray_server.client.jobs() if INTENT in job.noted and job.status == "RUNNING"]


def against(server: RayServer, action: Action, job: str, other: Callable[[], object], delay: float) -> DecisionResult:
    """Carry out an action while somebody else does something after a while."""
    written = Written()
    written(decided(action, job))

    def late() -> None:
        time.sleep(delay)
        with suppress(RayError):  # it came too late, or too early
            other()

    thread = threading.Thread(target=late)
    thread.start()
    result = carry_out(server.client, written)
    thread.join()
    return result


def submit(server: RayServer, entrypoint: str, state: str) -> str:
    job = server.submit(f"race-{uuid.uuid4().hex[:8]}", entrypoint)
    server.wait(job, state, seconds=WITHIN_S)
    return job


def restart_of_what_is_deleted(server: RayServer, delay: float) -> str:
    job = submit(server, FAILS_ONCE + "; sleep 600", "FAILED")
    result = against(server, Action.RESTART, job, lambda: server.client.delete(job), delay * 0.6)
    there = attempts(server, job)
    if result.outcome is Outcome.DONE:
        assert 1 in there, there
        server.client.stop(f"{job}.attempt1")
    elif 1 in there:  # it was made, and its user had deleted the job meanwhile
        assert "deleted meanwhile" in result.detail, result
        server.wait(f"{job}.attempt1", "STOPPED", seconds=WITHIN_S)
    assert not there.keys() - {0, 1}
    return result.outcome


def restart_of_what_its_user_submits_again(server: RayServer, delay: float) -> str:
    job = submit(server, FAILS_ONCE, "FAILED")
    result = against(server, Action.RESTART, job, lambda: server.submit(f"{job}.attempt1", "true"), delay * 0.6)
    made = server.wait(f"{job}.attempt1", "SUCCEEDED", seconds=WITHIN_S)
    assert sorted(attempts(server, job)) == [0, 1]
    ours = "schedmate.io/acts" in made.noted
    assert ours == (result.outcome is Outcome.DONE) or not ours, (result, made)
    return f"{result.outcome}, {'ours' if ours else 'theirs'}"


def restart_by_two_bridges(server: RayServer, delay: float) -> str:
    job = submit(server, FAILS_ONCE, "FAILED")
    second = Written()
    second(decided(Action.RESTART, job))
    result = against(server, Action.RESTART, job, lambda: carry_out(server.client, second), delay * 0.6)
    assert result.outcome is Outcome.DONE, result
    server.wait(f"{job}.attempt1", "SUCCEEDED", seconds=WITHIN_S)
    assert sorted(attempts(server, job)) == [0, 1]
    return f"{result.outcome}, {second.results[-1].outcome}"


def eviction_of_what_ends(server: RayServer, delay: float) -> str:
    job = submit(server, f'test -n "$SCHEDMATE_ATTEMPT" || sleep {delay:.2f}', "RUNNING")
    result = against(server, Action.EVICT, job, lambda: None, 0)
    there = attempts(server, job)
    if there[0].status == "STOPPED":  # the bridge stopped it, and so it goes on
        assert result.outcome is Outcome.DONE, result
        server.wait(f"{job}.attempt1", "SUCCEEDED", seconds=WITHIN_S)
    else:
        assert (there[0].status, sorted(there)) == ("SUCCEEDED", [0])
        assert result.outcome is not Outcome.DONE, result
    return f"{result.outcome}, {there[0].status}"


def eviction_of_what_its_user_stops(server: RayServer, delay: float) -> str:
    """Ray does not say who stopped a job: one whose user stops it while it is being evicted is submitted again, once."""
    job = submit(server, RUNS_ONCE, "RUNNING")
    result = against(server, Action.EVICT, job, lambda: server.client.stop(job), delay / 2)
    server.wait(job, "STOPPED", seconds=WITHIN_S)
    there = attempts(server, job)
    assert (sorted(there) == [0, 1]) == (result.outcome is Outcome.DONE), result
    return result.outcome


def cancellation_of_what_ends(server: RayServer, delay: float) -> str:
    job = submit(server, f"sleep {delay:.2f}", "RUNNING")
    result = against(server, Action.CANCEL, job, lambda: None, 0)
    there = attempts(server, job)
    assert sorted(there) == [0]
    assert (there[0].status == "STOPPED") == (result.outcome is Outcome.DONE), (result, there)
    return f"{result.outcome}, {there[0].status}"


RACE = {
    each.__name__: each
    for each in (
        restart_of_what_is_deleted,
        restart_of_what_its_user_submits_again,
        restart_by_two_bridges,
        eviction_of_what_ends,
        eviction_of_what_its_user_stops,
        cancellation_of_what_ends,
    )
}


def test_a_head_that_dies_while_the_bridge_acts(own_ray: RayServer) -> None:
    """Decisions wait for the head, and are carried out once when it is back, with the tables that Redis kept.

    What a head took in right before it died may wait for long: Ray gives a submission 15 minutes to start.
    """
    away = own_ray.on_worker()
    failed = own_ray.submit(f"head-{uuid.uuid4().hex[:8]}", FAILS_ONCE, entrypoint_label_selector=away)
    ran = own_ray.submit(f"head-{uuid.uuid4().hex[:8]}", RUNS_ONCE, entrypoint_label_selector=away)
    own_ray.wait(failed, "FAILED")
    own_ray.wait(ran, "RUNNING")
    results: dict[str, DecisionResult] = {}

    def act(action: Action, job: str) -> None:
        written = Written()
        written(decided(action, job))
        results[job] = carry_out(own_ray.client, written)

    killer = threading.Thread(target=lambda: (time.sleep(0.3), own_ray.kill("n1"), own_ray.start_head()))
    actors = [threading.Thread(target=act, args=each) for each in ((Action.RESTART, failed), (Action.EVICT, ran))]
    for thread in (*actors, killer):
        thread.start()
    for thread in (*actors, killer):
        thread.join()
    for job, result in results.items():
        assert result.outcome is Outcome.DONE, result
        assert sorted(attempts(own_ray, job)) == [0, 1]
