"""Public traces and `sacct` output, in the form in which they are published."""

import gzip
import json
from pathlib import Path

import pytest

from schedmate.simulate.cluster import NodeSpec
from schedmate.simulate.reading import TraceError
from schedmate.simulate.traces import read_jobs, read_nodes, read_trace

from .test_trace import written

SACCT = (
    "JobID|User|State|Submit|Start|End|WorkDir|SubmitLine|JobName|Partition|ReqTRES|ReqNodes|TimelimitRaw\n"
    "7|ann|COMPLETED|2024-05-01T10:00:00|2024-05-01T10:01:00|2024-05-01T11:01:00|/h|sbatch a.sh|a, b|gpu|"
    "billing=8,cpu=8,gres/gpu=4,mem=64G,node=2|2|1440\n"
    "7.batch||COMPLETED|2024-05-01T10:00:00|2024-05-01T10:01:00|2024-05-01T11:01:00|||batch||||\n"
    "8_3|bob|CANCELLED by 1000|2024-05-01T10:00:05|2024-05-01T10:02:00|2024-05-01T10:02:30|/h||x|gpu|cpu=1,gres/gpu:a100=1|1|60\n"
    "9|bob|COMPLETED|2024-05-01T10:00:06|2024-05-01T10:02:00|2024-05-01T10:02:30|/h||x|cpu|cpu=1|1|60\n"
    "10|bob|PENDING|2024-05-01T10:00:07|Unknown|Unknown|/h||x|gpu|cpu=1,gres/gpu=1|1|60\n"
    "11|bob|COMPLETED|broken\n"
)


def test_sacct_output_is_read_and_counts_what_is_left_out(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path, SACCT, "jobs.txt"))
    first, second = trace.jobs
    assert (first.job_id, first.gpus, first.duration_s, first.user, first.partition) == ("7", 4, 3600, "ann", "gpu")
    assert (second.job_id, second.submit_s - first.submit_s, second.duration_s) == ("8_3", 5, 30)
    assert [job.job_id for job in trace.without_gpus] == ["9"]
    assert (trace.unfinished, trace.unreadable) == (1, 1)
    assert trace.left_out() == "1 use no GPU, 1 have no start or no end, 1 could not be read"


def test_an_id_that_slurm_used_twice_is_two_jobs(tmp_path: Path) -> None:
    again = SACCT.splitlines()[1].replace("2024-05-01", "2024-06-01")
    first, _, second = read_jobs(written(tmp_path, SACCT + again + "\n", "jobs.txt"))
    assert (first.job_id.partition("@")[0], second.job_id.partition("@")[0]) == ("7", "7")
    assert first.job_id != second.job_id


def test_the_gpus_of_an_exclusive_node_are_those_allocated(tmp_path: Path) -> None:
    text = (
        "JobID|State|Submit|Start|End|ReqTRES|AllocTRES|\n"
        "7|COMPLETED|1714557600|1714557660|1714561260|cpu=8,node=1|cpu=64,gres/gpu=8,node=1|\n"
    )
    [job] = read_jobs(written(tmp_path, text, "jobs.txt"))
    assert job.gpus == 8


def test_sacct_output_without_the_needed_columns_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="expected a first line with the columns Submit, Start, End, as this prints"):
        read_jobs(written(tmp_path, "JobID|State|Elapsed\n7|COMPLETED|01:00\n"))


def test_helios_as_published(tmp_path: Path) -> None:
    text = (
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
        "1425511,uXBbc,vcJkd,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 04:55:09,36848,0\n"
        "1425512,uVMrF,vchbv,0,16,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,2020-06-09 18:45:36,249,0\n"
    )
    trace = read_trace(written(tmp_path, text, "cluster_log.csv"))
    [job] = trace.jobs
    assert (job.partition, job.user, job.duration_s, job.submit_s) == ("vcJkd", "uXBbc", 36848, 1591728061)
    assert len(trace.without_gpus) == 1


def test_helios_nodes_are_the_largest_of_each_virtual_cluster(tmp_path: Path) -> None:
    text = "date,vcA,vcB,total\n2020-04-01,16,8,24\n2020-04-02,8,8,16\n"
    nodes = read_nodes(written(tmp_path, text, "cluster_gpu_number.csv"))
    assert [node.partition for node in nodes] == ["vcA", "vcA", "vcB"]


def test_acme_as_published(tmp_path: Path) -> None:
    text = (
        "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time\n"
        "5778432,u5907,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,2023-03-01 00:20:51+08:00,117,32,936.0\n"
        "5778433,u5907,1,8,128,Other,CANCELLED,2023-03-01 00:18:23+08:00,,2023-03-01 00:20:51+08:00,0,32,0.0\n"
        "5778434,u5907,1,0,128,Other,COMPLETED,2023-03-01 00:18:24+08:00,2023-03-01 00:18:54+08:00,2023-03-01 00:20:51+08:00,117,32,0.0\n"
    )
    trace = read_trace(written(tmp_path, text, "trace_seren.csv"))
    [job] = trace.jobs
    assert (job.job_id, job.gpus, job.duration_s, job.submit_s) == ("5778432", 8, 117, 1677601102)
    assert (trace.unfinished, len(trace.without_gpus)) == (1, 1)


def test_supercloud_as_published(tmp_path: Path) -> None:
    text = (
        "id_job,id_array_job,id_user,kill_requid,nodes_alloc,timelimit,state,time_submit,time_start,time_end,partition,tres_req,tres_alloc\n"
        '1,0,77,-1,1,1440,3,1609500000,1609500060,1609500160,normal,"1=8,2=85000,4=1,5=8,1002=2","1=8,1002=2"\n'
        '2,0,77,-1,1,1440,3,1609500001,1609500060,1609500160,normal,"1=8,2=85000,4=1,5=8","1=8"\n'
        '3,0,77,-1,1,1440,4,1609500002,0,1609500160,normal,"1=8,1001=1",\n'
    )
    trace = read_trace(written(tmp_path, text, "slurm-log.csv"))
    [job] = trace.jobs
    assert (job.job_id, job.gpus, job.duration_s, job.user) == ("1", 2, 100, "77")
    assert (trace.unfinished, len(trace.without_gpus)) == (1, 1)


def test_philly_as_published(tmp_path: Path) -> None:
    def attempt(start: str | None, end: str | None, *gpus: int) -> dict[str, object]:
        detail = [{"ip": f"m{count}", "gpus": [f"gpu{gpu}" for gpu in range(count)]} for count in gpus]
        return {"start_time": start, "end_time": end, "detail": detail}

    def entry(name: str, submitted: str, *attempts: dict[str, object]) -> dict[str, object]:
        common = {"status": "Pass", "vc": "ee9e8c", "user": "ce2f4c"}
        return common | {"jobid": name, "submitted_time": submitted, "attempts": list(attempts)}

    jobs = [
        entry(
            "later",
            "2017-10-07 01:11:39",
            attempt("2017-10-07 01:12:09", "2017-10-07 01:13:09", 8),
            attempt("2017-10-07 01:13:30", "2017-10-07 01:14:00", 8, 8),
        ),
        entry("earlier", "2017-10-07 01:11:09", attempt("2017-10-07 01:12:09", "2017-10-07 01:13:09", 1)),
        entry("never", "2017-10-07 01:11:09"),
        entry("runs", "2017-10-07 01:11:09", attempt("2017-10-07 01:12:09", None, 1)),
    ]
    file = tmp_path / "cluster_job_log.gz"
    file.write_bytes(gzip.compress(json.dumps(jobs, indent=1).encode()))
    trace = read_trace(file)
    first, second = trace.jobs
    assert (first.job_id, first.gpus, first.duration_s) == ("earlier", 1, 60)
    assert (second.job_id, second.gpus, second.duration_s, second.partition) == ("later", 16, 90, "ee9e8c")
    assert trace.unfinished == 2
    machines = written(tmp_path, "machineId, number of GPUs, single GPU mem\nm1,8,24GB\nm2,2,12GB\n", "machines")
    assert read_nodes(machines) == [NodeSpec(gpus=8, name="m1"), NodeSpec(gpus=2, name="m2")]


def test_json_that_is_not_philly_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="expected Philly's cluster_job_log"):
        read_jobs(written(tmp_path, '[{"name": 1}]', "jobs.json"))


@pytest.fixture
def pai(tmp_path: Path) -> Path:
    tables = {
        "pai_job_table": (
            "job_name,inst_id,user,status,start_time,end_time",
            "a,i,ann,Terminated,100,\nb,i,bob,Failed,50,\nc,i,cy,Running,60,\nd,i,di,Failed,70,\n",
        ),
        "pai_task_table": (
            "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type",
            (
                "a,worker,4.0,Terminated,110,210,600,30,50,T4\na,ps,1.0,Terminated,105,215,600,30,,\n"
                "b,tensorflow,2.0,Failed,60,80,600,30,200,V100\nc,worker,1.0,Running,70,,600,30,100,T4\n"
                "d,evaluator,1.0,Failed,80,90,600,30,,\n"
            ),
        ),
        "pai_machine_spec": ("machine,gpu_type,cap_cpu,cap_mem,cap_gpu", "m0,T4,96,512,2\nm1,CPU,96,512,0\n"),
    }
    for name, (header, text) in tables.items():
        (tmp_path / f"{name}.header").write_text(header)
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def test_pai_as_published(pai: Path) -> None:
    trace = read_trace(pai)
    failed, shared = trace.jobs
    assert (failed.job_id, failed.gpus, failed.pods, failed.duration_s) == ("b", 2, 2, 20)
    assert (shared.gpus, shared.pods, shared.duration_s, shared.submit_s) == (0.5, 4, 110, 100)
    assert (trace.unfinished, [job.job_id for job in trace.without_gpus]) == (1, ["d"])
    assert read_nodes(pai) == [NodeSpec(gpus=2, gpu_type="T4", name="m0")]


def test_a_directory_without_the_tables_of_pai_is_refused(tmp_path: Path) -> None:
    for read in (read_jobs, read_nodes):
        with pytest.raises(TraceError, match=r"\.header"):
            read(tmp_path)
