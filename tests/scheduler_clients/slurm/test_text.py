"""How one line of `scontrol` is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_clients.slurm.text import parse

OWN = (
    " UserId=ada(1000) GroupId=lab(1000) MCS_label=N/A Priority=5 Nice=0 Account=(null) QOS=(null) JobState=FAILED"
    " Reason=NonZeroExitCode Dependency=(null) Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=3:0 RunTime=00:00:01"
    " SubmitTime=100 EligibleTime=100 StartTime=101 EndTime=102 NodeList=n[1-2] BatchHost=n1 JOB_GRES=shard:4  "
    " Nodes=n[1-2] CPU_IDs=0 Mem=0 GRES=shard:2(IDX:0) MinCPUsNode=1 Features=(null)"
)
REST = " Command=/home/ada/train.sh --lr 0.1 WorkDir=/home/ada/my dir StdErr=/x StdIn=/dev/null StdOut=/x Power="


def test_a_record_is_read() -> None:
    found = parse("JobId=7 JobName=a b" + OWN + REST)
    assert found
    assert (found.job, found.state, found.restarts, found.user) == ("7", "FAILED", 2, "ada")
    assert (found.exit_code, found.signal, found.reason) == (3, 0, "NonZeroExitCode")
    assert (found.submitted, found.started, found.ended) == (100.0, 101.0, 102.0)
    assert found.nodes == ("n1", "n2")
    assert (found.devices, found.shards, found.gpus) == ({("n1", 0), ("n2", 0)}, 4, None)
    assert found.command == "/home/ada/train.sh --lr 0.1"
    assert found.directory == "/home/ada/my dir"


def test_ids_are_what_slurm_prints() -> None:
    names = {
        "JobId=7 JobName=x": "7",
        "JobId=9 ArrayJobId=7 ArrayTaskId=2 ArrayTaskThrottle=1 JobName=x": "7_2",
        "JobId=7 ArrayJobId=7 ArrayTaskId=3-9%2 JobName=x": "7_3-9%2",
        "JobId=8 HetJobId=7 HetJobOffset=1 JobName=x HetJobIdSet=7-8": "7+1",
    }
    assert {head: found.job for head in names if (found := parse(head + OWN + REST))} == names


def test_a_signal_is_no_exit_code() -> None:
    found = parse("JobId=7 JobName=x" + OWN.replace("ExitCode=3:0", "ExitCode=0:9") + REST)
    assert found
    assert (found.exit_code, found.signal) == (None, 9)


@given(st.text(alphabet=st.characters(exclude_characters="\n", exclude_categories=["Cs"])))
def test_no_name_and_no_comment_changes_what_is_believed(text: str) -> None:
    for line in (f"JobId=7 JobName={text}{OWN}{REST}", f"JobId=7 JobName=x{OWN}{REST} Comment={text}"):
        found = parse(line)
        assert found is None or (found.number, found.state, found.restarts, found.exit_code) == (
            "7",
            "FAILED",
            2,
            3,
        )


@pytest.mark.parametrize(
    "name", ["x JobState=COMPLETED ExitCode=0:0", "x UserId=root(0) JobState=COMPLETED Restarts=9"]
)
def test_a_name_that_reads_as_fields_is_not_believed(name: str) -> None:
    found = parse(f"JobId=7 JobName={name}{OWN}{REST}")
    assert found is None or found.state == "FAILED"


@given(st.text())
def test_anything_can_come(text: str) -> None:
    assert parse(text) is None
