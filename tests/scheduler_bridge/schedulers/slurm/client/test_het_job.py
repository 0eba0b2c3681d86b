"""The parts of a heterogeneous job, as one job."""

from dataclasses import replace

import pytest

from scheduler_bridge.schedulers.slurm.client import SlurmJob, SlurmShare
from scheduler_bridge.schedulers.slurm.client.het_job import merge, merge_all
from scheduler_bridge.schedulers.slurm.client.text import parse

LINE = (
    "JobId={number} HetJobId=7 HetJobOffset={offset} JobName=x HetJobIdSet=8-9 HetJobIdSet=7-8 UserId=ada(1000) GroupId=lab(1000)"
    " Priority=5 JobState=RUNNING Reason=None Requeue=1 Restarts=2 ExitCode=0:0 ReqNodeList=(null) ExcNodeList={excluded}"
    " NodeList={node} NumNodes=1 NumCPUs=2 Command=/x WorkDir=/x"
)


def part(**fields: object) -> SlurmJob:
    read = parse(LINE.format(**fields))
    assert read
    return read


FIRST = part(number=7, offset=0, node="n1", excluded="n4,n5")
SECOND = part(number=8, offset=1, node="n2", excluded="n5,n6")


def test_the_whole_is_called_by_the_number_of_its_first_part_and_holds_what_they_hold() -> None:
    whole = merge([FIRST, replace(SECOND, shares={"n2": SlurmShare(2)})])
    assert (whole.job, whole.nodes, whole.cpus, whole.restarts) == ("7", ("n1", "n2"), 4, 2)
    assert whole.excluded_nodes == ("n5",)
    assert whole.shares == {"n2": SlurmShare(2)}
    assert whole.is_called("7")


def test_a_name_does_not_change_the_parts() -> None:
    assert FIRST.het_numbers == ("7", "8")


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (("RUNNING", "CANCELLED"), "RUNNING"),
        (("FAILED", "COMPLETING"), "COMPLETING"),
        (("FAILED", "CANCELLED"), "FAILED"),
    ],
)
def test_it_is_over_once_all_parts_are(states: tuple[str, str], expected: str) -> None:
    whole = merge([replace(FIRST, state=states[0], ended=5.0), replace(SECOND, state=states[1], ended=6.0)])
    assert (whole.state, whole.ended) == (expected, 6.0 if expected == "FAILED" else None)


def test_parts_without_their_first_one_are_no_job() -> None:
    other = replace(FIRST, number="3", job="3", het_numbers=())
    assert [job.job for job in merge_all({"3": other, "8": SECOND})] == ["3"]
    assert [job.job for job in merge_all({"3": other, "7": FIRST, "8": SECOND})] == ["3", "7"]
