"""The advisor on a real Kafka: submissions in, estimates out, each once by id, whoever dies."""

import os
from pathlib import Path

import msgspec
import pytest

from processors.advise.predictors.job import Completion, Submission
from processors.advise.predictors.train import train
from schedmate.advisor.model_files import save
from schedmate.advisor.settings import CURRENT
from schedmate.advisor.utilisation import FEWEST
from schedmate_records import ANSWERED, Estimate, EventKind, GpuProcess, GpuSample, JobEvent, Record, Workload
from sinks.redis.connect import open_redis
from streams.kafka import read_back
from tests.processors.advise.predictors.jobs import repeating
from tests.servers.kafka import Kafka
from tests.servers.redis import redis_server
from tests.streams.runtimes.workers import all_read, command, send, start, until, values, wait_for

from .lives import lives

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


def longer(done: Completion) -> Completion:
    """Return a job that took sixteen times as long."""
    return Completion(job=done.job, ended=done.ended + 15 * done.duration_s, duration_s=16 * done.duration_s)


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
def test_what_a_model_found_is_told_once_by_id_though_the_advisor_is_killed(own_kafka: Kafka, tmp_path: Path) -> None:
    log, history = tmp_path / "advisor.log", {"SCHEDMATE_ADVISOR__HISTORY": str(tmp_path / "history.db")}
    first = start(own_kafka, "advisor", log=log, **history)
    try:
        send(own_kafka, [event for job in range(JOBS // 2) for event in answered(job)])
        until(lambda: values(own_kafka, ["estimates"]) > 0, log)
    finally:
        first.kill()
        first.wait()
    send(own_kafka, [event for job in range(JOBS // 2, JOBS) for event in answered(job)])
    with command(own_kafka, "advisor", log=log, **history):
        found = wait_for(own_kafka, ["estimates"], 2 * JOBS, log)
        until(lambda: all_read(own_kafka, "schedmate-advisor"), log)
    found = list(read_back(own_kafka.connection, ["estimates"]))
    told = [msgspec.json.decode(message.value, type=Estimate) for message in found]
    by_id = {each.id: each for each in told}
    assert all(each == by_id[each.id] for each in told), "what was told twice is the same"
    assert sorted((int(each.job), each.revision) for each in by_id.values()) == [
        (job, revision) for job in range(JOBS) for revision in (0, ANSWERED)
    ]
    assert {each.method for each in by_id.values() if each.revision == 0} == {"unknown"}
    alike = [each for each in by_id.values() if each.revision == ANSWERED and each.method == "similar"]
    assert len(alike) > JOBS / 2
    assert all(each.duration_s == pytest.approx(600, rel=0.01) for each in alike)


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


@pytest.mark.kafka
def test_it_trains_by_itself_and_trains_again_when_jobs_have_become_longer(own_kafka: Kafka, tmp_path: Path) -> None:
    log, models, jobs = tmp_path / "advisor.log", tmp_path / "models", repeating(700, every_s=2000.0)
    known, later = jobs[:600], [longer(done) for done in jobs[600:]]
    settings = {
        "SCHEDMATE_ADVISOR__HISTORY": str(tmp_path / "history.db"),
        "SCHEDMATE_ADVISOR__MODELS": str(models),
        "SCHEDMATE_ADVISOR__TRAIN_HOURS": "0.001",
    }

    def estimates() -> list[Estimate]:
        return [
            msgspec.json.decode(message.value, type=Estimate)
            for message in read_back(own_kafka.connection, ["estimates"])
        ]

    def trainings() -> int:
        return len(list(models.glob("*/model.json")))

    asked = 0

    def ask() -> None:
        nonlocal asked
        asked += 1
        again = Submission(job_id=f"again-{asked}", submitted=known[-1].ended + asked, user="u1", queue="q1", gpus=2.0)
        send(own_kafka, list[Record](lives([Completion(job=again, ended=again.submitted, duration_s=0.0)])[:1]))

    def answered_by_a_model() -> bool:
        ask()
        return any(each.method == "predictor" for each in estimates())

    with command(own_kafka, "advisor", log=log, **settings):
        send(own_kafka, list[Record](lives(known)))
        until(answered_by_a_model, log, 240)
        first = {each.model for each in estimates() if each.method == "predictor"}
        for card in models.glob("*/model.json"):
            os.utime(card.parent, times=(1.0, 1.0))  # one that has drifted is trained once a day at most
        send(own_kafka, list[Record](lives(later)))

        def trained_again() -> bool:
            ask()  # it looks at its model when something comes, so that one that stands by trains nothing
            return trainings() > 1 and "has drifted" in log.read_text()

        until(trained_again, log, 240)
    assert len(first) == 1


@pytest.mark.kafka
def test_how_hard_jobs_are_on_their_gpus_is_seen_while_they_run(own_kafka: Kafka, tmp_path: Path) -> None:
    log, running = tmp_path / "advisor.log", 0

    def sampled(job: int) -> list[GpuSample]:
        holds = [GpuProcess(pid=1, job=f"{job}")]
        return [
            GpuSample(id=f"{job}/{at}", node="n1", gpu=0, time=float(at), utilisation=60 + 10 * at, processes=holds)
            for at in range(FEWEST)
        ]

    def answers_with_samples() -> bool:
        nonlocal running
        send(own_kafka, list[Record](life(running)[2:]))  # by now the samples of this one may have been read
        running += 1
        send(own_kafka, [*life(running)[:2], *sampled(running)])
        estimates = (
            msgspec.json.decode(message.value, type=Estimate)
            for message in read_back(own_kafka.connection, ["estimates"])
        )
        return any(each.gpu_utilisation == 70 for each in estimates)

    with command(own_kafka, "advisor", log=log, SCHEDMATE_ADVISOR__HISTORY=str(tmp_path / "history.db")):
        until(answers_with_samples, log, 120)


@pytest.mark.kafka
@pytest.mark.redis
@pytest.mark.parametrize("vector_sets", [False, True])
def test_jobs_alike_are_found_in_redis_by_a_model_though_the_advisor_is_killed(
    own_kafka: Kafka, minilm_directory: Path, tmp_path: Path, request: pytest.FixtureRequest, vector_sets: bool
) -> None:
    log, program = tmp_path / "advisor.log", request.getfixturevalue("redis_8") if vector_sets else "redis-server"
    with redis_server(tmp_path, program) as redis:
        settings = {
            "SCHEDMATE_ADVISOR__HISTORY": str(tmp_path / "history.db"),
            "SCHEDMATE_ADVISOR__EMBEDDER": "onnx",
            "SCHEDMATE_ADVISOR__EMBEDDER_MODEL": str(minilm_directory),
            "SCHEDMATE_ADVISOR__VECTORS": "redis",
            "SCHEDMATE_REDIS__URL": redis.url,
        }
        first = start(own_kafka, "advisor", log=log, **settings)
        try:
            send(own_kafka, [event for job in range(JOBS // 2) for event in of_its_own(job)])
            until(lambda: values(own_kafka, ["estimates"]) > 0, log)
        finally:
            first.kill()
            first.wait()
        send(own_kafka, [event for job in range(JOBS // 2, JOBS) for event in of_its_own(job)])
        with command(own_kafka, "advisor", log=log, **settings):
            found = wait_for(own_kafka, ["estimates"], JOBS, log)
            client = open_redis(redis.url, binary=True)
            kind = "set" if vector_sets else "hash"
            orders = [f"schedmate:past:{each}:{kind}:order" for each in ("commands", "records:model")]
            until(lambda: all(client.zcard(order) == JOBS for order in orders), log)
    told = {each.job: each for each in (msgspec.json.decode(message.value, type=Estimate) for message in found)}
    alike = [each for each in told.values() if each.method == "similar"]
    assert len(told) == JOBS
    assert len(alike) > JOBS / 2
    assert all(each.duration_s == pytest.approx(600, rel=0.01) for each in alike)


def answered(job: int) -> list[JobEvent]:
    """Events of a job like `of_its_own`, of which its source says too little and a language model finds the rest before it starts."""
    submitted, started, ended = of_its_own(job)
    assert submitted.workload
    part = msgspec.structs.replace(submitted.workload, model_name=None, dataset_train=None)
    found = JobEvent(
        id=f"d{job}", job=f"{job}", kind=EventKind.DESCRIBED, time=submitted.time + 0.5, scheduler="slurm",
        workload=msgspec.structs.replace(part, model_name="gpt2-medium", dataset_train="openwebtext"),
    )  # fmt: skip
    plain = [msgspec.structs.replace(event, workload=None) for event in (started, ended)]
    return [msgspec.structs.replace(submitted, workload=part), found, *plain]


def of_its_own(job: int) -> list[JobEvent]:
    """Events of a job whose command and directory nobody else has; what it trains is spelled in two ways."""
    spelled = ("GPT-2", "OpenWebText") if job % 2 else ("gpt2-medium", "openwebtext")
    trains = Workload(model_name=spelled[0], task_type="language-modeling", dataset_train=spelled[1])
    return [
        msgspec.structs.replace(event, command=f"tool{job}", directory=f"/u{job}/p{job}", workload=trains)
        for event in life(job)
    ]
