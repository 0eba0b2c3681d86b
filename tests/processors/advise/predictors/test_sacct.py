import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.advise.predictors.sacct import COLUMNS, NotAccounting, read_sacct

HEADER = "|".join(COLUMNS)
RAN = "2024-05-01T10:00:00|2024-05-01T10:01:00|2024-05-01T11:01:00"
ROW = (
    f"4711|ann|COMPLETED|{RAN}|/home/ann|sbatch train.sh|train.sh|gpu|billing=8,cpu=8,gres/gpu=4,mem=64G,node=2|2|1440"
)


def test_a_row_is_read() -> None:
    (done,) = read_sacct([HEADER, ROW]).jobs
    job = done.job
    assert (job.user, job.queue, job.group, job.gpus, job.cpus, job.memory_gib, job.instances) == (
        "ann",
        "gpu",
        "train.sh",
        4,
        8,
        64,
        2,
    )
    assert (done.duration_s, done.ended - job.submitted, job.time_limit_s) == (3600, 3660, 86_400)
    assert not done.failed


@pytest.mark.parametrize(
    ("text", "gpus", "memory"),
    [
        ("gres/gpu:a100=2,mem=512M", 2, 0.5),
        ("gres/gpu=4,gres/gpu:a100=4,mem=1T", 4, 1024),
        ("gres/gpu:a100=2,gres/gpu:v100=1", 3, 0),
        ("", 0, 0),
    ],
)
def test_resources_are_read(text: str, gpus: float, memory: float) -> None:
    (done,) = read_sacct([HEADER, ROW.replace("billing=8,cpu=8,gres/gpu=4,mem=64G,node=2", text)]).jobs
    assert (done.job.gpus, done.job.memory_gib) == (gpus, memory)


@pytest.mark.parametrize(
    "row",
    [
        ROW.replace("4711", "4711.batch"),
        ROW.replace("COMPLETED", "RUNNING"),
        ROW.replace("2024-05-01T10:01:00", "Unknown"),
    ],
)
def test_what_did_not_run_and_end_is_no_job(row: str) -> None:
    found = read_sacct([HEADER, row])
    assert (found.jobs, found.skipped) == ([], 0)


@pytest.mark.parametrize(
    "row", ["4711|ann", ROW.replace("cpu=8", "cpu=many"), ROW.replace("T11:01", "T09:01"), "x" * 70_000]
)
def test_what_cannot_be_read_is_counted(row: str) -> None:
    found = read_sacct([HEADER, row, ROW])
    assert (len(found.jobs), found.skipped) == (1, 1)


def test_a_cancelled_job_and_unix_times() -> None:
    row = ROW.replace("COMPLETED", "CANCELLED by 1000").replace("2024-05-01T10:00:00", "1714557600")
    (done,) = read_sacct([HEADER, row]).jobs
    assert done.failed
    assert done.job.submitted == 1714557600


def test_a_first_line_without_names_is_refused() -> None:
    with pytest.raises(NotAccounting, match="JobID"):
        read_sacct([ROW])


@given(st.lists(st.text(max_size=60)), st.text(alphabet="|=,:.0123456789KMGabcT- ", max_size=200))
def test_any_text_is_counted_or_passed_over(lines: list[str], other: str) -> None:
    rows = [HEADER, *lines, other, "|".join([*ROW.split("|")[:8], other.replace("|", ""), "", ""])]
    found = read_sacct(rows)
    assert len(found.jobs) + found.skipped < len(rows)
    assert all(done.duration_s >= 0 for done in found.jobs)
