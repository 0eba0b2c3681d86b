"""What a job waits for after the job that it waited for goes on."""

import pytest

from scheduler_bridge.schedulers.slurm.actuator.dependents import follow


@pytest.mark.parametrize(
    ("printed", "job", "successor", "expected"),
    [
        ("afterok:1(failed)", "1", "1", "afterok:1"),
        ("afterok:1(failed)", "1", "14", "afterok:14"),
        ("afterok:1(failed),afterok:3(unfulfilled)", "1", "14", "afterok:14,afterok:3"),
        ("afterok:1(failed)?afterok:3(unfulfilled)", "1", "14", "afterok:14?afterok:3"),
        (
            "afterok:1(failed),singleton(unfulfilled),after:3+10(unfulfilled),afterany:3(unfulfilled)",
            "1",
            "14",
            "afterok:14,singleton,after:3+10,afterany:3",
        ),
        ("afterok:2_1(failed)", "2_1", "14_1", "afterok:14_1"),
        ("aftercorr:2_*(failed)", "2_1", "2_1", "aftercorr:2_*"),
        ("afterok:1(unfulfilled)", "1", "14", "afterok:14"),
    ],
)
def test_it_waits_for_the_next_run(printed: str, job: str, successor: str, expected: str) -> None:
    assert follow(printed, job, successor) == expected


@pytest.mark.parametrize(
    ("printed", "job", "successor"),
    [
        ("afterok:1(unfulfilled)", "1", "1"),  # Slurm has not given it up
        ("afterok:11(failed)", "1", "1"),
        ("afterok:1(failed),afterok:2(failed)", "1", "1"),
        ("afternotok:1(failed)", "1", "1"),
        ("afternotok:1(unfulfilled)", "1", "14"),
        ("afterok:2_*(failed)", "2_1", "14_1"),  # other tasks of the array are part of it
        ("afterok:1(failed),afterok:3(unful", "1", "1"),  # cut off
        ("afterok:1(failed) Comment=x", "1", "1"),
        ("", "1", "1"),
    ],
)
def test_it_is_left_alone(printed: str, job: str, successor: str) -> None:
    assert not follow(printed, job, successor)
