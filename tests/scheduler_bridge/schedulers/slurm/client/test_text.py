"""How one line of `scontrol` is read."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_bridge.schedulers.slurm.client import SlurmJob
from scheduler_bridge.schedulers.slurm.client.text import parse, parse_certain

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


FIXTURES = Path(__file__).with_name("fixtures")
LINES = {
    file.stem.rpartition("-")[2]: file.read_text().splitlines()[0] for file in FIXTURES.glob("scontrol_show_job-*.txt")
}
CHOSEN = {
    "JobName": ("name",),
    "Account": ("account",),
    "QOS": ("qos",),
    "Features": ("features",),
    "Network": (),
    "Command": ("command",),
    "SubmitLine": (),
    "WorkDir": ("directory",),
    "AdminComment": (),
    "Comment": (),
    "Extra": (),
    "StdErr": (),
    "StdIn": (),
    "StdOut": (),
    "MailUser": (),
}
"""Keys whose values a user may choose, and the fields of a job that are read from them."""
ASKS = ("tres_per_node", "tres_per_job", "tres_per_task")


def words(line: str) -> list[str]:
    """Return the fields of a line, each with a value that somebody else would like it to have."""
    forged = [word for word in line.split(" ") if "=" in word]
    forged += [
        "JobState=FAILED",
        "Restarts=9",
        "ExitCode=9:0",
        "UserId=root(0)",
        "TresPerNode=gres:shard:9",
        "NodeList=n9",
    ]
    return [
        *forged,
        "Power=",
        "TRES=",
        "TresPerJob=gres/gpu:9",
        "Nodes=n9 CPU_IDs=0 Mem=0 GRES=gpu:8(IDX:0-7)",
        "BatchFlag=0",
    ]


def agree(release: str, key: str, was: SlurmJob, now: SlurmJob, certain: bool) -> bool:
    free = [*CHOSEN[key], *(() if certain else ASKS), *(() if release >= "25.11" else ("sluid",))]
    return replace(now, **{name: getattr(was, name) for name in free}) == was


@given(st.data())
def test_no_text_of_a_user_changes_another_field(data: st.DataObject) -> None:
    release = data.draw(st.sampled_from(sorted(LINES)))
    line = LINES[release]
    key = data.draw(st.sampled_from([key for key in CHOSEN if f" {key}=" in line]))
    begin = line.index(f" {key}=") + len(key) + 2
    if key == "WorkDir":
        value = "/home/ada/my runs"
    elif key == "SubmitLine":
        value = line[begin : line.index(" WorkDir=")]
    else:
        value = line[begin:].split(" ")[0]
    chosen = st.one_of(
        st.sampled_from(words(line)), st.text(alphabet=st.characters(exclude_characters="\n", codec="utf-8"))
    )
    text = " ".join(data.draw(st.lists(chosen, max_size=8)))
    was, now = parse(line), parse_certain(line[:begin] + text + line[begin + len(value) :])
    assert was
    assert now[0] is None or agree(release, key, was, *now), (release, key, text)


@pytest.mark.parametrize("release", sorted(LINES))
@pytest.mark.parametrize("key", ["JobName", "Account", "Command", "WorkDir", "Comment", "StdOut"])
def test_a_whole_line_as_a_text_is_refused_or_changes_nothing(release: str, key: str) -> None:
    line = LINES[release]
    begin = line.index(f" {key}=") + len(key) + 2
    forged = line.replace("RUNNING", "FAILED").replace("(1001)", "(0)").replace("UserId=ada", "UserId=root")
    for text in (forged, forged + " ", "x " + forged[forged.index("UserId=") :], f"{forged} {forged}"):
        now = parse(line[:begin] + text + line[begin:])
        assert now is None or (now.state, now.user) == ("RUNNING", "ada")


def test_long_texts_cost_little_time() -> None:
    line = LINES["25.11"]
    texts = ("WorkDir=/ " * 9000, "Comment=x " * 280, "A=b " * 30_000, " " * 200_000, "StdErr=x StdIn=x StdOut=x " * 90)
    began = time.process_time()
    for text in texts:
        for key in ("JobName", "Comment", "StdOut"):
            parse(line.replace(f" {key}=", f" {key}={text}", 1))
    assert time.process_time() - began < 5
