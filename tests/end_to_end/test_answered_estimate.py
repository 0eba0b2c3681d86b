"""A job waits in a real Slurm, a language model reads its source, and the advisor tells its estimate anew, over a real Kafka."""

import json
from pathlib import Path

import msgspec
import pytest

from processors.advise.past import PastJob, SubmittedJob
from schedmate.advisor.history_file import history_file
from schedmate_records import ANSWERED, Estimate, EventKind, JobEvent, Workload
from streams.kafka import read_back
from tests.processors.advise.metadata.trees import grown
from tests.servers.kafka import Kafka
from tests.servers.slurm import Slurm
from tests.streams.model_worker import misbehaving_server as http
from tests.streams.runtimes.workers import command, until

pytestmark = [pytest.mark.kafka, pytest.mark.slurm, pytest.mark.slow]

LINE = 'run(corpus_for_training="wikitext-103", arch="gpt2-medium")\n'
TRAINS = Workload(model_name="gpt2-medium", dataset_train="wikitext-103")
READ = {"action": "file_read", "path": "train.py", "line": 1, "claims": []}
CLAIMS = [
    {"field": field, "value": getattr(TRAINS, field), "path": "train.py", "line": 1}
    for field in ("model_name", "dataset_train")
]
DONE = {"action": "answer", "path": "", "line": 1, "claims": CLAIMS}


def reads_then_answers(exchange: http.Exchange) -> None:
    """Speak as vLLM does: ask for the program, and once it is shown, claim what it says."""
    said = DONE if "wikitext" in json.dumps(exchange.asked["messages"]) else READ
    exchange.say(200, http.completion(json.dumps(said)))


@pytest.mark.timeout(300)
def test_what_a_model_finds_revises_the_estimate_of_the_job_that_waits(
    own_kafka: Kafka, slurm: Slurm, tmp_path: Path
) -> None:
    history, log = tmp_path / "history.db", tmp_path / "log"
    about = SubmittedJob(job="before", command="elsewhere.sh", directory="/elsewhere", workload=TRAINS)
    with history_file(history) as store:
        store.add_all([("before/0", PastJob(about=about, ended=9000.0, duration_s=7200.0))])
    tree = grown(slurm.directory / "answered", {"train.py": LINE, "t.sh": "#!/bin/sh\npython train.py $@\n"})
    (tmp_path / "state").mkdir()

    def estimates_of(job: str) -> dict[int, Estimate]:
        found = (
            msgspec.json.decode(each.value, type=Estimate) for each in read_back(own_kafka.connection, ["estimates"])
        )
        return {each.revision: each for each in found if each.job == job}

    with http.misbehaving(reads_then_answers) as model:
        watching = {
            "SLURM_CONF": slurm.environment["SLURM_CONF"],
            "SCHEDMATE_PRODUCER__DIRECTORY": str(tmp_path / "state"),
            "SCHEDMATE_PRODUCER__READ_SOURCES": "true",
            "SCHEDMATE_PRODUCER__ASK_MODEL": "true",
            "SCHEDMATE_LANGUAGE_MODEL__SERVERS": model.url,
            "SCHEDMATE_LANGUAGE_MODEL__MODEL": http.MODEL,
        }
        with (
            command(own_kafka, "watch-scheduler", "slurm", "--interval", "0.3", log=log, **watching),
            command(own_kafka, "advisor", log=log, SCHEDMATE_ADVISOR__HISTORY=str(history)),
        ):
            for number in range(100):  # a host that is too busy to read one tree in time reads the next
                job = slurm.run(
                    "sbatch", "--parsable", "--hold", f"--chdir={tree}", f"{tree}/t.sh", f"{number}"
                ).strip()
                until(lambda job=job: bool(estimates_of(job)), log, 120)  # type: ignore[misc]
                if _source_was_read(own_kafka, job):
                    break
                slurm.run("scancel", job)
            until(lambda: ANSWERED in estimates_of(job), log, 120)
            slurm.run("scancel", job)
    first, answered = estimates_of(job)[0], estimates_of(job)[ANSWERED]
    assert (first.method, first.duration_s) == ("unknown", None)
    assert (answered.method, answered.similar_jobs) == ("similar", ["before"])
    assert answered.duration_s == pytest.approx(7200, rel=0.01)
    assert answered.time >= first.time


def _source_was_read(kafka: Kafka, job: str) -> bool:
    events = (msgspec.json.decode(each.value, type=JobEvent) for each in read_back(kafka.connection, ["job-events"]))
    return any(each.job == job and each.kind is EventKind.SUBMITTED and each.workload for each in events)
