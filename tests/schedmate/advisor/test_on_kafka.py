"""The advisor on a real Kafka: submissions in, estimates out, each once by id, whoever dies."""

from pathlib import Path

import msgspec
import pytest

from processors.advise.predictors.model_file import save
from processors.advise.predictors.train import train
from records import Estimate, EventKind, JobEvent
from schedmate.advisor.settings import CURRENT
from tests.processors.advise.predictors.jobs import repeating
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


@pytest.mark.kafka
def test_the_trained_model_answers_and_a_newer_one_is_taken_into_use(own_kafka: Kafka, tmp_path: Path) -> None:
    log, models, jobs = tmp_path / "advisor.log", tmp_path / "models", repeating(700, every_s=2000.0)
    settings = {"SCHEDMATE_ADVISOR__HISTORY": str(tmp_path / "history.db"), "SCHEDMATE_ADVISOR__MODELS": str(models)}
    save(train(jobs[:600], None).new, models / "first")
    save(train(jobs, None).new, models / "second")
    (models / CURRENT).symlink_to(models / "first")
    asked = [
        JobEvent(
            id=done.job.job_id, job=done.job.job_id, kind=EventKind.SUBMITTED, time=done.job.submitted, scheduler="slurm",
            user=done.job.user, partition=done.job.queue, gpus=done.job.gpus, cpus=done.job.cpus,
        )
        for done in jobs[-2:]
    ]  # fmt: skip
    with command(own_kafka, "advisor", log=log, **settings):
        send(own_kafka, asked[:1])
        wait_for(own_kafka, ["estimates"], 1, log)
        fresh = models / "fresh"
        fresh.symlink_to(models / "second")
        fresh.replace(models / CURRENT)
        send(own_kafka, asked[1:])
        found = wait_for(own_kafka, ["estimates"], 2, log)
    told = {each.job: each for each in (msgspec.json.decode(message.value, type=Estimate) for message in found)}
    first, second = (told[event.job] for event in asked)
    assert first.method == second.method == "predictor"
    assert first.model != second.model
    assert all(each.duration_s and each.duration_high_s for each in (first, second))
