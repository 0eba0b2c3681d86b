"""Traces of strangers: what is read, and what is said of what cannot be."""

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedmate.simulate.cluster import NodeSpec
from schedmate.simulate.estimates import with_history
from schedmate.simulate.job import JobClass, PackedWorkload
from schedmate.simulate.reading import TraceError
from schedmate.simulate.traces import read_estimates, read_jobs, read_nodes
from schedmate.simulate.workloads.early_exits import with_early_exits
from tests.schedmate.simulate.running import job


def written(tmp_path: Path, text: str, name: str = "jobs.csv") -> Path:
    file = tmp_path / name
    file.write_text(text)
    return file


def test_a_trace_of_ones_own(tmp_path: Path) -> None:
    text = "job_id,submit_s,duration_s,gpus,pods,user,class,checkpoint_every_s\nb,5,10,2,3,ann,spot,600\na,1,7.5,0.5,,bob,,inf\n"
    first, second = read_jobs(written(tmp_path, text))
    assert (first.job_id, first.duration_s, first.total_gpus, first.checkpoint_every_s) == ("a", 7.5, 0.5, float("inf"))
    assert (second.job_class, second.total_gpus, second.user) == (JobClass.SPOT, 6, "ann")


def test_helios(tmp_path: Path) -> None:
    file = tmp_path / "helios.csv.gz"
    text = (
        "job_id,submit_s,user,vc,gpu_num,state,duration,lucid_model,lucid_dataset,lucid_batchsize,lucid_amp,lucid_gmem,tie_order\n"
        "2,5,ann,vcA,8,FAILED,10,VGG,CIFAR-10,64,1,3588.0,1\n1,5,bob,vcA,0,COMPLETED,10,,,,,,2\n3,5,bob,vcB,16,COMPLETED,20,,,,,,0\n"
    )
    file.write_bytes(gzip.compress(text.encode()))
    first, second = read_jobs(file)
    assert (first.job_id, first.partition, first.gpus) == ("3", "vcB", 16)
    assert second.workload == PackedWorkload("VGG", "CIFAR-10", 64, amp=True)
    assert second.memory_mib == 3588


def test_philly_and_openb(tmp_path: Path) -> None:
    philly = "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
    openb = (
        "name,cpu_milli,num_gpu,gpu_milli,gpu_spec,qos,creation_time,deletion_time,scheduled_time\n"
        "p1,1,1,460,,LS,10,110,20\np2,1,2,1000,,BE,5,30,5\np3,1,0,0,,LS,1,2,1\n"
    )
    [one] = read_jobs(written(tmp_path, philly))
    assert (one.partition, one.duration_s) == ("11cb48", 66)
    spot, share = read_jobs(written(tmp_path, openb))
    assert (spot.job_id, spot.gpus, spot.job_class) == ("p2", 2, JobClass.SPOT)
    assert (share.gpus, share.duration_s) == (0.46, 90)


def test_nodes(tmp_path: Path) -> None:
    assert read_nodes(written(tmp_path, ",num\nvcA,2\n")) == [NodeSpec(partition="vcA")] * 2
    assert read_nodes(written(tmp_path, "gpus,gpu_type,count\n4,V100,2\n")) == [NodeSpec(gpus=4, gpu_type="V100")] * 2
    assert read_nodes(written(tmp_path, "sn,cpu_milli,gpu,model\nn0,64000,2,P100\n")) == [NodeSpec(2, "P100", "", "n0")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a header line, found an empty file"),
        ("a,b\n1,2\n", "expected the columns of a trace"),
        ("job_id,submit_s,duration_s,gpus\nx,0,1,two\n", "line 2: expected a number in column 'gpus', found 'two'"),
        ("job_id,submit_s,duration_s,gpus\nx,nan,1,1\n", "line 2: expected a number in column 'submit_s', found 'nan'"),
        (
            "job_id,submit_s,duration_s,gpus\nx,0,1,1.5\n",
            "expected a share below 1 or a whole number of GPUs, found 1.5",
        ),
        (
            "job_id,submit_s,duration_s,gpus,class\nx,0,1,1,gold\n",
            "expected hp or spot in column 'class', found 'gold'",
        ),
        ("job_id,submit_s,duration_s,gpus\nx,0,1,1,9\n", "expected 4 fields, found more"),
        ("job_id,submit_s,duration_s,gpus\nx,0,1,0\n", "expected jobs that ask for GPUs, found none"),
        ("job_id,submit_s,duration_s,gpus\n,0,1,1\n", "expected a value in column 'job_id', found none"),
    ],
)
def test_errors_say_where_and_what(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TraceError, match="(?s)" + message.replace("(", r"\(")):
        read_jobs(written(tmp_path, text))


@given(st.binary(max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_bytes_are_a_trace_or_an_error(tmp_path: Path, data: bytes) -> None:
    for name, prefix in (("x.csv", b""), ("y.csv", b"job_id,submit_s,duration_s,gpus\n"), ("z.csv.gz", b"")):
        file = tmp_path / name
        file.write_bytes(prefix + data)
        for read in (read_jobs, read_nodes, read_estimates):
            try:
                read(file)
            except TraceError:
                continue


def test_estimates_rest_on_what_had_ended() -> None:
    jobs = [
        job("a", 0, 100, user="ann"),
        job("b", 50, 10, user="ann"),
        job("c", 100, 1, user="ann"),
        job("d", 101, 1, user="bob"),
        job("e", 150, 1, 2, user="ann"),
    ]
    estimates = [each.estimate_s for each in with_history(jobs)]
    assert estimates[:2] == [None, None]
    assert estimates[2] == pytest.approx(1000**0.5)  # of 100 and 10
    assert estimates[3] == pytest.approx(10)  # of 100, 10 and 1, for bob has none of his own
    assert estimates[4] == pytest.approx(10)


def test_negative_estimates_are_taken_as_lucid_does(tmp_path: Path) -> None:
    assert read_estimates(written(tmp_path, "job_id,priority\n1,-5\n2,7\n")) == {"1": 1000, "2": 7}


@given(st.floats(0, 1), st.integers(0, 5))
@settings(deadline=None)
def test_early_exits_shorten_their_share_and_come_from_the_seed(share: float, seed: int) -> None:
    jobs = [job(str(number), 0, 1000) for number in range(400)]
    made = with_early_exits(jobs, share, seed)
    assert made == with_early_exits(jobs, share, seed)
    assert all(1 <= each.duration_s <= 1000 for each in made)
    shortened = sum(each.duration_s < 1000 for each in made)
    assert abs(shortened - 400 * share) <= 60
