"""FIFO, SJF and QSSF against cases worked out by hand."""

from schedmate.simulate.policies.ordered import fifo, sjf, sjf_estimated
from schedmate.simulate.policies.qssf import Qssf

from .running import job, run, times

# On one node of 2 GPUs: `first` fills it until 10; then two wait, `long` of them submitted first.
WAITING = [job("first", 0, 10, 2), job("long", 1, 20, 2), job("short", 2, 5, 2)]


def test_fifo_starts_in_the_order_of_submission() -> None:
    assert times(run(WAITING, fifo(), [2])) == {"first": (0, 10), "long": (10, 30), "short": (30, 35)}


def test_sjf_starts_the_shortest_first() -> None:
    assert times(run(WAITING, sjf(), [2])) == {"first": (0, 10), "long": (15, 35), "short": (10, 15)}


def test_nothing_overtakes_a_job_that_does_not_fit() -> None:
    # `small` would fit beside `first`, but `wide` waits before it.
    jobs = [job("first", 0, 10, 1), job("wide", 1, 5, 2), job("small", 2, 1, 1)]
    assert times(run(jobs, fifo(), [2])) == {"first": (0, 10), "wide": (10, 15), "small": (15, 16)}


def test_an_end_frees_gpus_for_a_start_in_the_same_second() -> None:
    assert times(run([job("a", 0, 10), job("b", 10, 1)], fifo(), [1])) == {"a": (0, 10), "b": (10, 11)}


def test_sjf_by_estimates_is_led_by_them_and_takes_jobs_without_one_last() -> None:
    jobs = [
        job("first", 0, 10),
        job("unknown", 1, 1),
        job("thought-long", 2, 1, estimate_s=50),
        job("thought-short", 3, 30, estimate_s=2),
    ]
    starts = {name: each.first_start for name, each in run(jobs, sjf_estimated(), [1]).items()}
    assert starts == {"first": 0, "thought-short": 10, "thought-long": 40, "unknown": 41}


def test_qssf_weighs_estimates_by_gpus() -> None:
    # 4 GPUs for 10 s are more service than 1 GPU for 30 s.
    jobs = [job("first", 0, 10, 4), job("wide", 1, 10, 4, estimate_s=10), job("narrow", 2, 30, 1, estimate_s=30)]
    assert times(run(jobs, Qssf(), [4])) == {"first": (0, 10), "narrow": (10, 40), "wide": (40, 50)}


def test_qssf_takes_jobs_that_come_to_an_empty_queue_by_gpus_for_that_second() -> None:
    # At 0 both are new: `narrow` is taken first, though `wide` is predicted to need less service; in the next second predictions count.
    jobs = [job("wide", 0, 1, 2, estimate_s=1), job("narrow", 0, 50, 1, estimate_s=50)]
    assert times(run(jobs, Qssf(), [2])) == {"narrow": (0, 50), "wide": (50, 51)}
