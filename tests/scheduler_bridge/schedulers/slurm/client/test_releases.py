"""The output of each release of Slurm that is supported, in `fixtures`.

The files were written after Slurm's own sources (`slurm_sprint_job_info`, `slurm_sprint_node_table`, `JOB_INFO` of the data parsers) and
after public output of these releases, with names of our own. Job 72 holds texts that read as fields wherever a user may write some.
"""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from scheduler_bridge.schedulers.slurm.client import (
    SlurmClient,
    SlurmJob,
    SlurmRefused,
    SlurmUnavailable,
    json_list,
    node,
    text,
)
from scheduler_bridge.schedulers.slurm.client.job_list import JSON_SECONDS, JobList

FIXTURES = Path(__file__).with_name("fixtures")
RELEASES = ("21.08", "22.05", "23.02", "23.11", "24.05", "24.11", "25.05", "25.11", "26.05")
WITH_JSON = tuple(release for release in RELEASES if release >= "23.02")
HOSTILE = " JobState=FAILED Restarts=9 TresPerNode=gres:shard:9 Nodes=n9 CPU_IDs=0 Mem=0 GRES=gpu:8(IDX:0-7) bye"


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text()


def from_text(release: str) -> dict[str, SlurmJob | None]:
    jobs = [text.parse(line) for line in fixture(f"scontrol_show_job-{release}.txt").splitlines()]
    return dict(zip(("71", "72", "73"), jobs, strict=True))


def from_json(release: str) -> dict[str, SlurmJob]:
    name = f"scontrol_show_job-{release}.json" if release in WITH_JSON else f"squeue-{release}.json"
    return {job.number: job for job in json_list.parse(fixture(name))}


@pytest.mark.parametrize("read", [from_text, from_json])
@pytest.mark.parametrize("release", RELEASES)
def test_a_running_job_is_read(release: str, read: Callable[[str], dict[str, SlurmJob]]) -> None:
    job = read(release)["71"]
    assert (job.job, job.state, job.restarts, job.user, job.name) == ("71", "RUNNING", 2, "ada", "train llm")
    assert (job.command, job.directory) == ("/home/ada/train.sh --lr 0.1", "/home/ada/my runs")
    assert (job.submitted, job.started, job.ended, job.limit_s) == (1795363000.0, 1795363010.0, None, 93600.0)
    assert (job.nodes, job.excluded_nodes) == (("tux00", "tux10"), ("tux03",))
    assert job.devices == {(host, index) for host in job.nodes for index in (2, 3)}
    assert (job.gpus, job.shards, job.node_count, job.cpus, job.tasks) == (2, 4, 2, 8, 4)
    assert (job.memory, {share.memory for share in job.shares.values()}) == (
        16384.0,
        {0.0 if release == "21.08" and read is from_json else 16384.0},
    )
    assert {share.cpus for share in job.shares.values()} == {4}
    assert job.asked_per_node == {"gpu": 1.0, "shard": 2.0}
    assert (job.partition, job.account, job.qos, job.features) == ("gpu", "lab", "normal", "a100&ib")
    assert (job.reservation, job.exclusive, job.requeue) == ("course", False, True)
    assert job.sluid == ("s4T7QX9ZC2M100" if release >= "25.11" else "")


@pytest.mark.parametrize("read", [from_text, from_json])
@pytest.mark.parametrize("release", RELEASES)
def test_texts_of_a_user_are_no_fields(release: str, read: Callable[[str], dict[str, SlurmJob]]) -> None:
    job = read(release)["72"]
    assert (job.job, job.state, job.restarts, job.reason) == ("72_1-9%2", "PENDING", 0, "Resources")
    assert (job.nodes, job.devices, job.gpus, job.shares) == ((), frozenset(), None, {})
    assert (job.name, job.account) == (f"a{HOSTILE}", f"lab{HOSTILE}")
    assert (job.command, job.directory) == (f"/home/ada/eval.sh a{HOSTILE}", "/home/ada")
    assert job.asked_per_node == {"gpu": 1.0, "shard": 2.0}


@pytest.mark.parametrize("release", RELEASES)
def test_text_and_json_describe_the_same_jobs(release: str) -> None:
    lines, listed = from_text(release), from_json(release)
    for number, job in lines.items():
        assert job
        known = asdict(listed[number])
        if release == "26.05" and not job.nodes:  # its JSON does not show whether a waiting job asked for whole nodes
            known["exclusive"] = job.exclusive
        if release == "21.08":  # its JSON has the memory of nodes by their place alone
            known["shares"] = asdict(job)["shares"]
        if job.state == "FAILED":  # its text lists no CPUs of what is over
            known["shares"] = {}
        assert known == asdict(job), number


@pytest.mark.parametrize("release", RELEASES)
def test_a_node_is_read(release: str) -> None:
    found = node.parse(fixture(f"scontrol_show_node-{release}.txt").rstrip("\n"))
    assert found
    assert (found.name, found.states, found.partitions) == ("tux00", ("MIXED", "DRAIN"), ("gpu", "all"))
    assert (found.booted, found.memory) == (1795360000.0, 515000.0)
    assert found.cpus == (32 if release == "21.08" else 30)
    assert (found.gpus, found.gpu_types, found.features) == (9, {"1g.10gb", "a100"}, {"a100", "ib"})
    assert (found.reason, found.comment) == ("a fan State=IDLE is broken", "rack 7 Partitions=none")


class Release:
    """Answers as Slurm of one release, with or without a JSON library."""

    def __init__(self, release: str, *, json: bool) -> None:
        self.release, self.json = release, json and release in WITH_JSON
        self.commands: list[tuple[str, ...]] = []

    def __call__(self, *command: str) -> str:
        self.commands.append(command)
        match command:
            case ("scontrol", "show", "job", "-d", "--json", *_):
                if not self.json:
                    raise SlurmRefused("`scontrol`", "scontrol: unrecognized option '--json'", "")
                return fixture(f"scontrol_show_job-{self.release}.json")
            case ("scontrol", "show", "job", "-d", "-o", *numbers):
                listed = fixture(f"scontrol_show_job-{self.release}.txt")
                return listed[listed.index(f"JobId={numbers[0]} ") :] if numbers else listed
            case ("squeue", "--json"):
                raise SlurmRefused("`squeue`", "squeue: unrecognized option '--json'", "")
            case ("squeue", "--noheader", "--states=all", "--format=%A"):
                return "71\n72\n73\n"
            case ("squeue", "--noheader", "--states=all", *_):
                asked = "gres/gpu:1g.10gb:1,gres/shard:a100:2"
                rows = [("71", "N/A", asked, "cpu=2"), ("72", "N/A", asked, "cpu=2")]
                return "".join(f"{row[0]:20}{row[1]:1024}{row[2]:1024}{row[3]:1024}\n" for row in rows)
        raise AssertionError(command)


@pytest.mark.parametrize("json", [True, False])
@pytest.mark.parametrize("release", RELEASES)
def test_every_job_is_listed_and_found(release: str, json: bool) -> None:
    client = SlurmClient(Release(release, json=json))
    jobs = client.jobs(arrays=True)
    assert (set(jobs), client.unreadable) == ({"71", "72_1-9%2", "73"}, 0)
    assert jobs["71"].asked_per_node == jobs["72_1-9%2"].asked_per_node == {"gpu": 1.0, "shard": 2.0}
    assert client.job("71") == jobs["71"]


@pytest.mark.parametrize("release", WITH_JSON)
def test_json_is_preferred_where_scontrol_writes_it(release: str) -> None:
    slurm = Release(release, json=True)
    SlurmClient(slurm).jobs()
    assert slurm.commands == [("scontrol", "show", "job", "-d", "--json")]


def test_json_is_asked_for_once_where_there_is_none() -> None:
    slurm = Release("22.05", json=False)
    client = SlurmClient(slurm)
    client.jobs()
    client.jobs()
    client.job("71")
    assert sum("--json" in command for command in slurm.commands) == 1


def test_a_list_that_takes_too_long_as_json_is_read_as_text() -> None:
    now = 0.0
    slurm = Release("25.11", json=True)

    def slow(*command: str) -> str:
        nonlocal now
        now += JSON_SECONDS + 1 if "--json" in command else 0.0
        return slurm(*command)

    jobs = JobList(slow, monotonic=lambda: now)
    assert jobs.all().keys() == jobs.all().keys() == {"71", "72", "73"}
    assert [("--json" in command) for command in slurm.commands] == [True, False, False, False]


@pytest.mark.parametrize(("seconds", "asked"), [(JSON_SECONDS + 1, 1), (0.1, 2)])
def test_json_that_does_not_come_is_asked_for_again_unless_it_takes_too_long(seconds: float, asked: int) -> None:
    now = 0.0
    slurm = Release("25.11", json=True)

    def run(*command: str) -> str:
        nonlocal now
        answer = slurm(*command)
        if "--json" in command:
            now += seconds
            raise SlurmUnavailable("an answer", "none", "")
        return answer

    jobs = JobList(run, monotonic=lambda: now)
    for _ in range(2):
        assert jobs.all().keys() == {"71", "72", "73"}
    assert sum("--json" in command for command in slurm.commands) == asked


def test_what_a_job_asks_for_is_confirmed_where_a_file_name_may_hold_it() -> None:
    slurm = Release("24.05", json=False)
    listed = fixture("scontrol_show_job-24.05.txt")
    forged = listed.replace("/slurm-71.out GresEnforceBind", "/slurm-71.out TresPerJob=gres:gpu:64 GresEnforceBind")
    assert forged != listed

    def run(*command: str) -> str:
        printed = slurm(*command)
        return forged if printed == listed else printed

    assert JobList(run).all()["71"].tres_per_job == ""


@pytest.mark.parametrize("release", RELEASES)
def test_a_field_that_is_new_or_missing_changes_no_other(release: str) -> None:
    line = fixture(f"scontrol_show_job-{release}.txt").splitlines()[0]
    read = text.parse(line)
    for place in (" Priority=", " TimeLimit=", " NumNodes=", " MinCPUsNode=", " OverSubscribe="):
        assert text.parse(line.replace(place, f" NewField=27.05{place}")) == read
    for name in ("MCS_label", "Nice", "Dependency", "AccrueTime", "LastSchedEval", "DelayBoot", "Network", "MemUpdate"):
        without = " ".join(word for word in line.split(" ") if not word.startswith(f"{name}="))
        assert text.parse(without) == read, name


def test_a_byte_that_is_no_utf_8_breaks_no_list_of_json() -> None:
    listed = fixture("scontrol_show_job-25.11.json").replace("train llm", r"tr\xffin \\x41 llm")
    names = {job.number: job.name for job in json_list.parse(listed)}
    assert names["71"] == "tr\ufffdin \\x41 llm"
