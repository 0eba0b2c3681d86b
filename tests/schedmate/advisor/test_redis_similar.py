"""Vectors of past jobs in a real Redis: one that has vector sets, and one that has not."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from processors.advise.past import PastJob, SubmittedJob
from processors.advise.past.embedding import command_vector
from processors.advise.past.similar_jobs import MemorySimilarJobs
from schedmate.advisor.redis_similar import RedisSimilarJobs
from sinks.redis.connect import open_redis
from streams.resilience import Outage
from tests.servers.redis import RedisServer

pytestmark = pytest.mark.redis
PASSWORD = "of-a-test"
OLDER, NEWER = "without vector sets", "with vector sets"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=[OLDER, NEWER])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RedisServer]:
    """With a user who has the rights that docs/security.md names."""
    newer = request.param == NEWER
    program = request.getfixturevalue("redis_8") if newer else "redis-server"
    rights = f"on >{PASSWORD} ~test:past:* +@connection +@read +@write +@scripting -@dangerous"
    if newer:
        rights += " +vadd +vrem +vsim +vcard"
    running = RedisServer(tmp_path, program=program, users={"default": "off", "advisor": rights})
    running.start()
    try:
        yield running
    finally:
        running.kill()


Opened = Callable[..., RedisSimilarJobs]


@pytest.fixture
def opened(server: RedisServer) -> Opened:
    def open_one(most: int = 1000, clock: Clock | None = None) -> RedisSimilarJobs:
        return RedisSimilarJobs(
            open_redis(server.url.replace("//", "//advisor@"), password=PASSWORD, timeout_s=5.0, binary=True),
            "test:past:",
            command_vector,
            Outage("Redis"),
            most=most,
            clock=clock or Clock(),
        )

    return open_one


def job(number: int, name: str = "new") -> SubmittedJob:
    command = f"python train_{number % 17}.py --data set{number % 13} --arch net{number % 7} --optimizer adam --amp"
    return SubmittedJob(job=name, command=command, directory="/home/ada/p")


def past(number: int, name: str = "") -> PastJob:
    return PastJob(about=job(number, name or f"{number}"), ended=float(number), duration_s=60.0)


def names(found: object) -> list[str]:
    return [one.about.job for one, _ in found]  # type: ignore[attr-defined]


def test_it_finds_what_a_search_in_memory_finds(opened: Opened) -> None:
    memory, stored = MemorySimilarJobs(command_vector), opened()
    for number in range(600):
        memory.add(past(number))
        stored.add(past(number))
    for number in range(600, 640):
        exact, found = memory.nearest(job(number), 3, 0.6), stored.nearest(job(number), 3, 0.6)
        assert exact
        assert found
        assert [cosine for _, cosine in found] == pytest.approx([cosine for _, cosine in exact], abs=1e-4)
    assert stored.nearest(SubmittedJob(job="7", command="julia plasma.jl"), 3, 0.9) == []
    assert stored.nearest(SubmittedJob(job="7"), 3, 0.9) is None


def test_another_process_sees_what_was_added_and_a_job_is_added_once(opened: Opened) -> None:
    first, second = opened(), opened()
    first.add(past(1))
    assert names(second.nearest(job(1), 3, 0.9)) == ["1"]
    for each in (first, second, opened()):
        each.add(past(1))
    first.add(past(18, "2"))
    assert names(second.nearest(job(1), 3, 0.2)) == ["1", "2"]
    assert names(opened().nearest(job(1), 3, 0.2)) == ["1", "2"]


def test_many_are_taken_in_as_one_by_one(opened: Opened) -> None:
    memory, stored = MemorySimilarJobs(command_vector), opened()
    many = [past(number) for number in range(150)]
    stored.extend([*many, *many[:70]])
    memory.extend(many)
    found = opened().nearest(job(5), 3, 0.9)
    assert names(found) == names(memory.nearest(job(5), 3, 0.9))


def test_of_equals_the_newest_are_nearest_and_the_oldest_make_room(opened: Opened) -> None:
    stored = opened(most=5)
    for number in range(8):
        stored.add(PastJob(about=job(1, f"{number}"), ended=float(number), duration_s=60.0))
    assert names(stored.nearest(job(1), 8, 0.9)) == ["7", "6", "5", "4", "3"]
    assert names(opened(most=5).nearest(job(1), 2, 0.9)) == ["7", "6"]


def test_while_it_is_away_no_job_is_alike_and_what_ended_is_added_later(server: RedisServer, opened: Opened) -> None:
    clock = Clock()
    stored = opened(clock=clock)
    stored.add(past(1))
    server.kill()
    stored.add(past(2))
    assert stored.nearest(job(1), 3, 0.9) == []
    server.start()  # empty
    assert stored.nearest(job(2), 3, 0.9) == [], "the next try is not due yet"
    clock.now += 60
    assert names(stored.nearest(job(2), 3, 0.9)) == ["2"]
