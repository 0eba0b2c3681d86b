"""The client over recorded answers."""

import pytest

from scheduler_bridge.schedulers.slurm.client import (
    SlurmClient,
    SlurmCommands,
    SlurmRefused,
    SlurmUnavailable,
    UnknownSlurmJob,
    json_list,
    text,
)

from .recorded_slurm import SCONTROL, SQUEUE, Recorded
from .releases import RELEASES, as_written_by

PLACES = frozenset(
    (
        "partition",
        "account",
        "qos",
        "priority",
        "eligible",
        "node_count",
        "cpus",
        "limit_s",
        "tasks",
        "memory",
        "exclusive",
        "shares",
        "sluid",
    )
)
"""What the recorded list lacks: `test_real_slurm` compares it."""
FORGED = "11"
"""The job whose name reads as the beginning of another record."""


@pytest.mark.parametrize("release", RELEASES)
def test_text_and_json_of_every_release_say_the_same(release: str) -> None:
    written = {job.number: job for line in SCONTROL.splitlines() if (job := text.parse(line))}
    as_json = {job.number: job for job in json_list.parse(as_written_by(release, SQUEUE))}
    assert as_json.keys() - written.keys() == {FORGED}
    for number, job in written.items():
        for name in set(job.__slots__) - PLACES:
            # Slurm itself words the reason of a held job in two ways.
            if (number, name) != ("14", "reason"):
                assert getattr(as_json[number], name) == getattr(job, name), (number, name)


def test_a_job_in_doubt_is_read_from_json_in_one_question() -> None:
    slurm = Recorded()
    client = SlurmClient(slurm)
    jobs = client.jobs()
    assert {"5_1", "6", FORGED, "1"} <= jobs.keys()
    assert [part.job for part in jobs["6"].parts] == ["6+0", "6+1"]
    assert "5_3-9%2" not in jobs
    assert (client.unreadable, jobs[FORGED].nodes) == (0, ("n3",))
    assert [command[0] for command in slurm.commands] == ["scontrol", "scontrol", "squeue", "squeue"]


def test_without_json_the_others_are_read_and_the_one_in_doubt_is_counted() -> None:
    slurm = Recorded(json="")
    client = SlurmClient(slurm)
    for _ in range(2):
        jobs = client.jobs()
        assert (client.unreadable, FORGED in jobs, jobs["1"].signal) == (1, False, 9)
    assert slurm.commands.count(("squeue", "--json")) == 1


def test_a_list_that_takes_too_long_is_given_up_and_the_others_are_read() -> None:
    slurm = Recorded()

    def slow(*command: str) -> str:
        if command == ("squeue", "--json"):
            raise SlurmUnavailable("an answer within 10 s", "none", "")
        return slurm(*command)

    client = SlurmClient(slow)
    assert (len(client.jobs()), client.unreadable) == (11, 1)


def test_one_job_is_found_by_each_of_its_names_and_no_other() -> None:
    client = SlurmClient(Recorded())
    assert client.job("5_2").job == "5_2"
    assert client.job("13").job == "5_2"
    assert client.job(FORGED).user == "ada"
    assert client.job("6") == client.job("6+1") == client.jobs()["6"]
    for name in ("5", "5_9", "7", "7; rm", "--all", ""):
        with pytest.raises((SlurmRefused, UnknownSlurmJob)):
            client.job(name)


@pytest.mark.parametrize(
    "listed", ["", "[]", "{}", '{"jobs": 3}', '{"jobs": [3, {}, {"job_id": "x"}]}', "[" * 100_000, "not json"]
)
def test_what_is_no_list_of_jobs_is_none(listed: str) -> None:
    assert json_list.parse(listed) == []


def test_a_state_that_passes_stands_for_the_job_as_it_does_in_text() -> None:
    listed = as_written_by("23.11", SQUEUE).replace('["FAILED"]', '["FAILED", "COMPLETING"]')
    assert {job.state for job in json_list.parse(listed) if job.number in ("1", "2")} == {"COMPLETING"}


def test_commands_that_are_not_there_are_an_outage(tmp_path) -> None:
    with pytest.raises(SlurmUnavailable, match="client commands"):
        SlurmClient(SlurmCommands({"PATH": str(tmp_path)})).jobs()
