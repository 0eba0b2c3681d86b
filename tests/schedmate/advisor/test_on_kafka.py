"""The advisor on a real Kafka: submissions in, estimates out, each once by id, whoever dies."""

from pathlib import Path

import msgspec
import pytest

from records import Estimate, EventKind, JobEvent
from tests.servers.kafka import Kafka
from tests.streams.runtimes.workers import command, send, start, until, values, wait_for

JOBS = 30


def life(job: int) -> list[JobEvent]:
    about = {
        "command": "/home/ada/train.sh",
        "directory": "/home/ada",
        "user": "ada",
        "scheduler": "slurm",
        "job": f"{job}",
    }
    return [
        JobEvent(id=f"s{job}", kind=EventKind.SUBMITTED, time=1000.0 * job, **about),  # type: ignore[arg-type]
        JobEvent(id=f"r{job}", kind=EventKind.STARTED, time=1000.0 * job + 1, **about),  # type: ignore[arg-type]
        JobEvent(id=f"e{job}", kind=EventKind.ENDED, time=1000.0 * job + 601, exit_code=0, **about),  # type: ignore[arg-type]
    ]


@pytest.mark.kafka
def test_submissions_are_answered_once_by_id_though_the_advisor_is_killed(own_kafka: Kafka, tmp_path: Path) -> None:
    log, history = tmp_path / "advisor.log", {"SCHEDMATE_ADVISOR__HISTORY": str(tmp_path / "history.db")}
    first = start(own_kafka, "advisor", log=log, **history)
    try:
        send(own_kafka, [event for job in range(JOBS // 2) for event in life(job)])
        until(lambda: values(own_kafka, ["estimates"]) > 0, log)
    finally:
        first.kill()
        first.wait()
    send(own_kafka, [event for job in range(JOBS // 2, JOBS) for event in life(job)])
    with command(own_kafka, "advisor", log=log, **history):
        found = wait_for(own_kafka, ["estimates"], JOBS, log)
    told = [msgspec.json.decode(message.value, type=Estimate) for message in found]
    by_id = {each.id: msgspec.structs.replace(each) for each in told}
    assert sorted(each.job for each in by_id.values()) == sorted(map(str, range(JOBS)))
    assert all(each == by_id[each.id] for each in told), "what was told twice is the same"
    known = [each for each in by_id.values() if each.method == "resubmission"]
    assert len(known) > JOBS / 2
    assert all(each.duration_s == pytest.approx(600, rel=0.01) for each in known)
