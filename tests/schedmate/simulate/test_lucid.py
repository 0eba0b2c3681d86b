"""Lucid and SchedMate's cancellation against cases worked out by hand."""

import random
from pathlib import Path

import pytest

from schedmate.simulate.cluster import Cluster, NodeSpec
from schedmate.simulate.interference import PackedSpeeds, read_packed_speeds
from schedmate.simulate.job import Job, PackedWorkload
from schedmate.simulate.policies.lucid import Cancellation, Lucid
from schedmate.simulate.profiling import Profiler, lend
from schedmate.simulate.reading import TraceError
from schedmate.simulate.simulation import NodeEvent, Simulation
from schedmate.simulate.throughput import quiet_times

from .running import job, run

WELL, BADLY = PackedWorkload("well"), PackedWorkload("badly")
SPEEDS = PackedSpeeds({(WELL, WELL): (1.0, 0.8), (WELL, BADLY): (0.5, 1.0), (BADLY, BADLY): (0.5, 0.5)})


def packable(
    name: str, submit_s: float, duration_s: float, workload: PackedWorkload = WELL, memory_mib: float = 2000
) -> Job:
    return job(name, submit_s, duration_s, estimate_s=duration_s, workload=workload, memory_mib=memory_mib)


def lucid(**more: object) -> Lucid:
    return Lucid(SPEEDS, score=lambda _: 1, **more)  # type: ignore[arg-type]


def test_a_job_is_packed_and_both_run_at_their_measured_speeds() -> None:
    # The guest runs at 1.0 for 40 s, the host at 0.8: 100 - 10 - 0.8 x 41 = 57.2 are left when it is seen to have ended, alone again.
    runs = run([packable("host", 0, 100), packable("guest", 10, 40)], lucid(), [1])
    assert (runs["guest"].first_start, runs["guest"].ended) == (10, 51)
    assert runs["host"].ended == 51 + 58 + 1


def test_jobs_that_do_not_fit_in_memory_or_are_longer_twice_over_are_not_packed() -> None:
    large = run([packable("host", 0, 100, memory_mib=20_000), packable("guest", 10, 40, memory_mib=5000)], lucid(), [1])
    long = run([packable("host", 0, 100), packable("guest", 10, 201)], lucid(), [1])
    assert large["guest"].first_start == long["guest"].first_start == 101


def test_while_the_cluster_is_quiet_nothing_is_packed() -> None:
    runs = run(
        [packable("host", 0, 100), packable("guest", 10, 40)], lucid(quiet_until=lambda _: (True, float("inf"))), [1]
    )
    assert runs["guest"].first_start == 101


def test_a_bad_packing_is_undone_once_and_for_all() -> None:
    # The guest slows the host to half. After 30 s it goes, having lost its work, and waits for the host.
    jobs = [packable("host", 0, 100), packable("guest", 10, 40, BADLY)]
    speeds = PackedSpeeds({(WELL, BADLY): (0.5, 1.0)})
    cancelling = Lucid(speeds, cancellation=Cancellation(0.65, 30), score=lambda _: 1)
    runs = run(jobs, cancelling, [1])
    assert runs["guest"].evictions == 1
    assert runs["host"].ended == 40 + (90 - 15) + 1
    assert runs["guest"].ended == 116 + 40 - 30 + 1  # it saves when asked to; else it would lose 30 s more
    untracked = Lucid(speeds, cancellation=Cancellation(0.65, 30, lambda _: False), score=lambda _: 1)
    assert run(jobs, untracked, [1])["guest"].evictions == 0


def test_a_good_packing_stays() -> None:
    policy = Lucid(SPEEDS, cancellation=Cancellation(0.65, 30), score=lambda _: 1)
    assert run([packable("host", 0, 100), packable("guest", 10, 40)], policy, [1])["guest"].evictions == 0


def test_the_sharing_score_follows_the_mean_of_measured_speeds() -> None:
    speeds = PackedSpeeds({(WELL, BADLY): (0.96, 0.84), (WELL, PackedWorkload("medium")): (1.0, 0.9)})
    assert [
        speeds.sharing_score(each) for each in (WELL, PackedWorkload("medium"), BADLY, PackedWorkload("unknown"), None)
    ] == [
        0,
        1,
        2,
        2,
        2,
    ]
    assert speeds.speeds_of(BADLY, WELL) == (0.84, 0.96)
    assert speeds.speeds_of(BADLY, BADLY) == (1, 1)


def test_the_profiler_keeps_short_jobs_and_passes_the_others_on() -> None:
    done = Profiler(nodes=1, time_limit_s=60, largest=4).run(
        [job("short", 0, 30, 4), job("long", 0, 100, 4), job("large", 0, 10, 8), job("late", 5, 60, 4)]
    )
    assert {run.job.job_id: run.ended for run in done} == {"short": 30, "late": 90}


def test_partitions_lend_nodes() -> None:
    nodes = [NodeSpec(partition="a")] * 2 + [NodeSpec(partition="b")]
    assert [node.partition for node in lend(nodes, ["a", "b"])] == ["a"]
    with pytest.raises(Exception, match="expected a virtual cluster that can lend"):
        lend(nodes, ["c"])


def test_a_cluster_is_quiet_after_few_submissions() -> None:
    quiet = quiet_times([float(second) for second in range(6000, 6060, 5)])
    assert quiet(6000) == (True, 6600)
    assert quiet(6600) == (False, 7200)  # 12 in the last 50 minutes are 2.4 in ten
    assert quiet(9660) == (True, float("inf"))


def test_pairs_are_read_and_errors_say_where(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("model1,speed1,model2,speed2\nwell,0.9,badly,0.4\nwell,oops,badly,1\n")
    with pytest.raises(TraceError, match=r"pairs.csv, line 3: expected a number in column 'speed1', found 'oops'"):
        read_packed_speeds(file)


def test_what_does_not_fit_on_one_gpu_is_not_packed() -> None:
    speeds = PackedSpeeds({(WELL, BADLY): (0.0, 0.0)})
    runs = run([packable("host", 0, 100), packable("guest", 10, 40, BADLY)], Lucid(speeds, score=lambda _: 0), [1])
    assert runs["guest"].first_start == 101


class Forgetful(Lucid):
    """Looks at its queue whenever it is asked to."""

    def schedule(self, simulation: Simulation) -> float | None:
        self._settled = None
        return super().schedule(simulation)


@pytest.mark.parametrize("seed", range(4))
def test_looks_that_are_left_out_would_have_started_nobody(seed: int) -> None:
    draws = random.Random(seed)
    jobs, submitted = [], 0.0
    for number in range(80):
        submitted += draws.choice([0, 0, 5, 30, 60])
        seconds = draws.choice([50.0, 400.0, 3000.0])
        more = {"gpu_type": draws.choice(["", "a", "b"])} if seed % 2 else {}
        estimate = None if draws.random() < 0.05 else seconds * draws.choice([0.3, 1, 3])
        jobs.append(
            job(
                str(number),
                submitted,
                seconds,
                draws.choice([0.5, 1, 1, 2, 4, 8] if seed % 2 else [1, 2, 4, 8, 16]),
                estimate_s=estimate,
                workload=draws.choice([WELL, BADLY, None]),
                memory_mib=draws.choice([0, 15_000]),
                **more,
            )
        )

    def outcomes(kind: type[Lucid]) -> list[tuple[float | None, float | None, int]]:
        made = kind(SPEEDS, lambda now: (now % 2000 < 500, now // 500 * 500 + 500), Cancellation(0.65, 30), lambda _: 1)
        cluster = Cluster([NodeSpec(gpu_type=gpu_type) for gpu_type in "aba"])
        faults = [NodeEvent(700, 0, up=False), NodeEvent(2500, 0, up=True)]
        return [
            (each.first_start, each.ended, each.runs)
            for each in Simulation(cluster, jobs, made, node_events=faults).run()
        ]

    assert outcomes(Lucid) == outcomes(Forgetful)
