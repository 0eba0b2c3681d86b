"""Workloads that are drawn: their shape, and that a seed gives them again."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from schedmate.simulate.cluster import NodeSpec
from schedmate.simulate.faults import FaultRates, draw_faults
from schedmate.simulate.job import JobClass
from schedmate.simulate.traces import read_jobs, read_nodes
from schedmate.simulate.workloads.classes import with_classes
from schedmate.simulate.workloads.spot import HP, SPOT, spot_workload
from schedmate.simulate.workloads.write import write_jobs, write_nodes

from .running import job


def test_a_seed_gives_the_same_workload_and_another_a_different_one() -> None:
    assert spot_workload(1, 3) == spot_workload(1, 3)
    assert spot_workload(1, 3) != spot_workload(1, 4)


def test_the_shape_is_that_of_table_3() -> None:
    jobs = spot_workload(28, 1)
    for shape, job_class in ((HP, JobClass.HP), (SPOT, JobClass.SPOT)):
        mine = [each for each in jobs if each.job_class is job_class]
        sizes = Counter(each.gpus for each in mine)
        assert len(mine) == pytest.approx(28 * shape.per_day, rel=0.1)
        for gpus, share in zip(shape.gpus, shape.gpu_shares, strict=True):
            assert 100 * sizes[gpus] / len(mine) == pytest.approx(share, abs=2)
        assert sum(each.pods > 1 for each in mine) / len(mine) == pytest.approx(shape.gang, abs=0.02)
    assert all(each.submit_s <= after.submit_s for each, after in pairwise(jobs))


def test_more_spot_jobs_leave_the_others_as_they_are() -> None:
    def high(scale: float) -> list[object]:
        return [each for each in spot_workload(2, 5, scale) if each.job_class is JobClass.HP]

    assert high(1) == high(4)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    jobs, nodes = spot_workload(1, 2), [NodeSpec(4, "V100", "vc", "n1"), NodeSpec()]
    write_jobs(tmp_path / "jobs.csv", jobs)
    write_nodes(tmp_path / "nodes.csv", nodes)
    assert read_jobs(tmp_path / "jobs.csv") == jobs
    assert read_nodes(tmp_path / "nodes.csv") == nodes


def test_classes_go_with_users() -> None:
    jobs = [
        job(str(number), number, 10, 16 if number % 10 == 0 else 1, user=f"u{number % 20}") for number in range(1000)
    ]
    made = with_classes(jobs, 0.3, 1)
    spot = [each for each in made if each.job_class is JobClass.SPOT]
    assert 0.25 <= len(spot) / 1000 <= 0.41
    users = {each.user for each in spot}
    assert all(each.job_class is JobClass.SPOT for each in made if each.user in users and each.total_gpus <= 8)


def test_nodes_fail_as_often_as_asked_and_come_back() -> None:
    nodes = [NodeSpec(partition="a")] * 100 + [NodeSpec(partition="b")] * 100
    events = draw_faults(nodes, 0, 100 * 86_400, 1, FaultRates(mean_days=50, repair_median_h=1, repair_spread=0.5))
    downs = [event for each in events.values() for event in each if not event.up]
    assert len(downs) == pytest.approx(400, rel=0.2)
    assert {event.node for event in events["b"]} <= set(range(100))
    assert sum(event.up for each in events.values() for event in each) == len(downs)
    assert draw_faults(nodes, 0, 1000, 1) == draw_faults(nodes, 0, 1000, 1)
