"""The queue in an export of sacct."""

import math

import pytest

from processors.advise.predictors.sacct import COLUMNS
from schedmate.advisor.exported_queue import ExportedQueue, read_queue
from schedmate.advisor.starts import present
from schedmate.simulate.cluster import NodeSpec
from schedmate.simulate.starts import start_ranges
from schedmate_records import UserError

HEADER = "|".join(COLUMNS)
ENDED = [
    f"{job}|ann|COMPLETED|2024-05-01T0{job}:00:00|2024-05-01T0{job}:00:00|2024-05-01T0{job}:50:00|/h|sbatch a.sh|a.sh|gpu|"
    "billing=8,cpu=8,gres/gpu=8,mem=64G,node=1|1|1440"
    for job in range(1, 7)
]
RUNS = "10|ann|RUNNING|2024-05-01T09:00:00|2024-05-01T09:30:00|Unknown|/h|sbatch a.sh|a.sh|gpu|cpu=8,gres/gpu=8,node=1|1|1440"
WAITS = "11|bob|PENDING|2024-05-01T09:50:00|Unknown|Unknown|/h|sbatch b.sh|b.sh|gpu|cpu=8,gres/gpu=8,node=1|1|60"
STEP = "10.batch||RUNNING|2024-05-01T09:30:00|2024-05-01T09:30:00|Unknown|||batch||||"


def read(*rows: str, nodes: int = 1) -> ExportedQueue:
    return read_queue([HEADER, *ENDED, *rows], [NodeSpec()] * nodes)


def starts(found: ExportedQueue) -> dict[str, float]:
    ranges = start_ranges(present(found.queue, found.known, found.now), futures=100)
    return {each.job: each.expected for each in ranges}


def test_a_job_starts_when_the_running_one_ends_as_earlier_runs_did() -> None:
    found = read(RUNS, STEP, WAITS)
    assert [job.view.job for job in found.queue.running] == ["10"]
    assert found.now == found.queue.waiting[0].since
    # Earlier runs took 50 minutes, and 20 have passed.
    assert starts(found)["11"] == pytest.approx(30 * 60, rel=0.2)


def test_jobs_wait_in_the_order_of_their_submission() -> None:
    later = WAITS.replace("11|bob", "12|cem").replace("09:50", "09:51")
    found = starts(read(RUNS, later, WAITS))
    assert 0 < found["11"] < found["12"]


def test_tasks_of_an_array_wait_one_by_one_up_to_its_limit() -> None:
    runs = RUNS.replace("10|", "20_1|").replace("gpu=8", "gpu=1")
    waits = WAITS.replace("11|", "20_[2-1000000%3]|").replace("gpu=8", "gpu=1")
    assert [job.view.job for job in read(runs, waits).queue.waiting] == ["20_2", "20_3"]


def test_gpus_beyond_a_node_are_on_several_nodes() -> None:
    (waiting,) = read(WAITS.replace("gpu=8", "gpu=16"), nodes=2).queue.waiting
    assert (waiting.need.nodes, waiting.need.gpus) == (2, 8)


def test_several_partitions_of_a_waiting_job_are_all_possible() -> None:
    nodes = [NodeSpec(partition="gpu"), NodeSpec(partition="long"), NodeSpec(partition="cpu")]
    queue = read_queue([HEADER, RUNS, WAITS.replace("|gpu|", "|gpu,long|")], nodes)
    assert starts(queue) == {"11": 0}
    assert [list(job.held) for job in queue.queue.running] == [["node1"]]


def test_running_jobs_take_the_fullest_nodes() -> None:
    small = [RUNS.replace("10|", f"{job}|").replace("gpu=8", "gpu=2") for job in (31, 32)]
    assert starts(read(*small, WAITS, nodes=2)) == {"11": 0}


def test_a_job_whose_end_was_lost_takes_no_place_from_others() -> None:
    lost = (
        RUNS.replace("10|", "5|")
        .replace("2024-05-01T09:00", "2024-04-01T09:00")
        .replace("2024-05-01T09:30", "2024-04-01T09:30")
    )
    found = read(lost, RUNS, WAITS)
    assert ([job.view.job for job in found.queue.running], found.unplaced) == (["10"], 1)


def test_a_planned_start_is_not_the_present() -> None:
    found = read(RUNS, WAITS.replace("Unknown", "2024-05-02T00:00:00", 1))
    assert found.now == found.queue.waiting[0].since


def test_what_is_left_out_is_counted() -> None:
    found = read(RUNS, RUNS.replace("10|", "13|"), WAITS.replace("gres/gpu=8,", ""), "14|bob|PENDING|broken")
    assert (found.unplaced, found.without_gpus, found.unreadable) == (1, 1, 1)


def test_a_job_of_which_nothing_is_known_is_bounded_by_its_limit() -> None:
    runs = RUNS.replace("ann", "eve").replace("a.sh", "zoo.py").replace("/h", "/z").replace("1440", "60")
    found = read_queue([HEADER, runs, WAITS], [NodeSpec()])
    assert found.known(found.queue.running[0].view) is None
    assert 0 < starts(found)["11"] < 40 * 60 < math.inf


def test_a_file_without_the_columns_names_the_command() -> None:
    with pytest.raises(UserError, match="TZ=UTC sacct"):
        read_queue(["a|b", "1|2"], [NodeSpec()])
