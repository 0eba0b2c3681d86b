"""How many questions a cluster asks: two workers and two model workers on a real broker."""

from collections import Counter
from pathlib import Path

import pytest

from schedmate_records import EventKind, JobEvent, ModelQuestion, QuestionKind, Record, decode
from streams.kafka import read_back
from tests.servers.kafka import Kafka
from tests.streams.model_worker import misbehaving_server as bad
from tests.streams.model_worker.sensible import sensible_server
from tests.streams.runtimes.workers import chunk, command, send, until

JOBS, CHUNKS, LINES = 6, 4, 30
PER_ATTEMPT = 3


def jobs() -> list[Record]:
    """Return chunks of several jobs by turns, all of one unknown format; each fails with errors that rules do not know, in two streams."""
    made: list[Record] = []
    for number in range(CHUNKS):
        steps = range(number * LINES + 1, (number + 1) * LINES + 1)
        lines = [f"zug {10 * at}.0 obj {3 / at:.4f} tick 50.0" for at in steps]
        made += [chunk(f"job-{job}", number, lines, LINES) for job in range(JOBS)]
    for job in range(JOBS):
        broken = [f"something is wrong: cannot write part {'abcdef'[job]}, no space"]
        made.append(chunk(f"job-{job}", CHUNKS, broken, LINES))
    made += [
        JobEvent(
            id=f"end-{job}-{time}", job=f"job-{job}", kind=EventKind.ENDED, time=2000.0 + time, exit_code=3, scheduler="slurm"
        )
        for time in range(3)
        for job in range(JOBS)
    ]  # fmt: skip
    return made


@pytest.mark.kafka
@pytest.mark.timeout(300)
def test_cluster_asks_once_about_a_format_and_three_times_at_most_about_an_attempt(
    own_kafka: Kafka, tmp_path: Path
) -> None:
    log, records = tmp_path / "log", jobs()
    late = [each for each in records if isinstance(each, JobEvent) or each.seq >= CHUNKS // 2]  # type: ignore[attr-defined]
    early = [each for each in records if each not in late]

    def questions() -> Counter[tuple[str, str]]:
        found = (decode(ModelQuestion, each.value) for each in read_back(own_kafka.connection, ["model-questions"]))
        return Counter((each.job, str(each.kind)) for each in found)

    def asked(kind: QuestionKind) -> int:
        return sum(each["response_format"]["json_schema"]["name"] == kind for each in server.requests)

    with bad.misbehaving(sensible_server) as server:
        asks = {"SCHEDMATE_PROCESSORS__ASK_MODELS": "true", "SCHEDMATE_SERVICE__PORT": "0"}
        answers = {"SCHEDMATE_LANGUAGE_MODEL__SERVERS": server.url, "SCHEDMATE_SERVICE__PORT": "0"}
        with (
            command(own_kafka, "worker", log=log, **asks),
            command(own_kafka, "worker", log=log, **asks),
            command(own_kafka, "model-worker", log=log, **answers),
            command(own_kafka, "model-worker", log=log, **answers),
        ):
            send(own_kafka, early)
            until(lambda: asked(QuestionKind.FORMAT) >= 1, log, 120)
            send(own_kafka, late)
            until(lambda: sum(kind == "failure" for _, kind in questions()) == JOBS, log, 120)
            until(lambda: asked(QuestionKind.FAILURE) >= JOBS, log, 120)
    assert asked(QuestionKind.FORMAT) == 1
    assert max(count for (_, kind), count in questions().items() if kind == "failure") <= PER_ATTEMPT
    assert asked(QuestionKind.FAILURE) <= PER_ATTEMPT * JOBS
