"""What holds of every simulation, whatever the policy."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.simulate.cluster import Cluster, NodeSpec
from schedmate.simulate.interference import PackedSpeeds
from schedmate.simulate.job import Job, JobClass, PackedWorkload, Run, Status
from schedmate.simulate.policies.lucid import Cancellation, Lucid
from schedmate.simulate.policies.ordered import fifo, sjf
from schedmate.simulate.policies.qssf import Qssf
from schedmate.simulate.policies.spot.chronus import Chronus
from schedmate.simulate.policies.spot.fgd import Fgd
from schedmate.simulate.policies.spot.lyra import Lyra
from schedmate.simulate.policies.spot.yarn import YarnCs
from schedmate.simulate.policies.srtf import Srtf
from schedmate.simulate.policies.tiresias import Tiresias
from schedmate.simulate.simulation import Costs, NodeEvent, Policy, Simulation

from .running import job, run, spot

A, B = PackedWorkload("a"), PackedWorkload("b")
SPEEDS = PackedSpeeds({(A, A): (0.96, 0.96), (A, B): (0.95, 0.5), (B, B): (0.97, 0.97)})
MAKERS: dict[str, Callable[[], Policy]] = {
    "fifo": fifo,
    "sjf": sjf,
    "qssf": Qssf,
    "srtf": Srtf,
    "tiresias": Tiresias,
    "lucid": lambda: Lucid(SPEEDS, score=lambda _: 1),
    "lucid-schedmate": lambda: Lucid(SPEEDS, cancellation=Cancellation(after_s=5), score=lambda _: 1),
    "yarn-cs": YarnCs,
    "chronus": Chronus,
    "lyra": Lyra,
    "fgd": Fgd,
}
GANGS = {"yarn-cs", "chronus", "lyra", "fgd"}


@st.composite
def jobs(draw: st.DrawFn) -> list[Job]:
    shapes = draw(
        st.lists(
            st.tuples(
                st.integers(0, 60),
                st.integers(1, 400),
                st.sampled_from([0.25, 0.5, 1, 2, 3, 4]),
                st.integers(1, 3),
                st.booleans(),
                st.sampled_from([0.0, 30.0, float("inf")]),
                st.sampled_from([A, B]),
            ),
            min_size=1,
            max_size=14,
        )
    )
    return [
        job(
            str(place),
            submit,
            duration,
            gpus,
            pods=pods if gpus >= 1 else 1,
            job_class=JobClass.SPOT if is_spot else JobClass.HP,
            estimate_s=float(duration),
            checkpoint_every_s=every if is_spot else 0.0,
            workload=workload,
        )
        for place, (submit, duration, gpus, pods, is_spot, every, workload) in enumerate(
            sorted(shapes, key=lambda shape: shape[0])
        )
    ]


class Watch:
    """Checks every instant."""

    def __init__(self, *, packs: bool) -> None:
        self.packs = packs

    def __call__(self, simulation: Simulation) -> None:
        load: dict[tuple[int, int], float] = {}
        jobs_on: dict[tuple[int, int], int] = {}
        for each in simulation.running.values():
            self._is_placed_whole(each)
            for piece in each.placement:
                for gpu in piece.gpus:
                    load[piece.node, gpu] = load.get((piece.node, gpu), 0) + piece.share
                    jobs_on[piece.node, gpu] = jobs_on.get((piece.node, gpu), 0) + 1
        most = 2 if self.packs else 1
        assert all(share <= most + 1e-9 for share in load.values()), "a GPU is given twice"
        for node in simulation.cluster.nodes:
            for gpu in range(node.spec.gpus):
                assert node.tenants[gpu] == jobs_on.get((node.index, gpu), 0)
        used = len(jobs_on)
        assert simulation.cluster.capacity - simulation.cluster.free == used - self._on_lost_nodes(simulation, jobs_on)

    @staticmethod
    def _is_placed_whole(run: Run) -> None:
        assert run.status is Status.RUNNING
        assert sum(len(piece.gpus) * piece.share for piece in run.placement) == pytest.approx(run.job.total_gpus)

    @staticmethod
    def _on_lost_nodes(simulation: Simulation, jobs_on: dict[tuple[int, int], int]) -> int:
        return sum(1 for node, _ in jobs_on if not simulation.cluster.nodes[node].up)


def test_what_waits_for_a_node_starts_when_it_is_back() -> None:
    job = Job(job_id="0", submit_s=1, duration_s=1, gpus=9, pods=1)
    events = [NodeEvent(at_s=50, node=1, up=False), NodeEvent(at_s=90, node=1, up=True)]
    for name in MAKERS.keys() - GANGS:  # the others want a whole pod on one node
        (run,) = Simulation(Cluster([NodeSpec(gpus=4)] * 3), [job], MAKERS[name](), node_events=events).run()
        assert run.status is Status.ENDED, name


@pytest.mark.parametrize("name", MAKERS)
@given(jobs=jobs(), faulty=st.booleans())
@settings(max_examples=15, deadline=None)
def test_gpus_are_given_once_gangs_whole_and_work_is_conserved(name: str, jobs: list[Job], faulty: bool) -> None:
    if name not in GANGS:  # these place a job as one pod of all its GPUs
        jobs = [Job(**{**_fields(each), "gpus": each.total_gpus, "pods": 1}) for each in jobs]
    events = [NodeEvent(at_s=50, node=1, up=False), NodeEvent(at_s=90, node=1, up=True)] if faulty else []
    cluster = Cluster([NodeSpec(gpus=4)] * 3)
    runs = Simulation(
        cluster, jobs, MAKERS[name](), node_events=events, tick=Watch(packs=name.startswith("lucid"))
    ).run()
    assert cluster.free == cluster.capacity
    for each in runs:
        assert each.status is Status.ENDED
        assert each.ended is not None
        assert each.first_start is not None
        assert each.work_left == pytest.approx(0, abs=1e-6)
        assert each.runs == 1 + each.evictions + each.faults
        assert each.first_start >= each.job.submit_s
        if not name.startswith("lucid"):
            restarts = (each.runs - 1) * 40
            ran = each.ended - each.job.submit_s - each.queued
            assert each.job.duration_s + each.lost <= ran + 1e-6
            assert ran <= each.job.duration_s + each.lost + restarts + 30 * 99 + 1
        if each.job.job_class is JobClass.HP and name in GANGS:
            assert each.evictions == 0


def _fields(each: Job) -> dict[str, object]:
    return {name: getattr(each, name) for name in each.__struct_fields__}


@given(st.integers(1, 500), st.sampled_from([0.0, 7.0, 60.0, float("inf")]), st.integers(0, 520))
@settings(deadline=None)
def test_an_evicted_job_loses_only_what_came_after_its_checkpoint(duration: int, every: float, at: int) -> None:
    jobs = [spot("low", 0, duration, checkpoint_every_s=every), job("high", at, 10)]
    low = run(jobs, YarnCs(grace_s=0), [1])["low"]
    if at >= duration:
        assert (low.evictions, low.lost, low.ended) == (0, 0, duration)
    elif at == 0:
        assert (low.evictions, low.ended) == (0, 10 + duration)
    else:
        kept = at if every == 0 else 0 if every == float("inf") else at // every * every
        assert low.lost == at - kept
        assert low.ended == at + 10 + duration - kept


def test_a_fault_ends_the_jobs_of_its_node_alone() -> None:
    events = [NodeEvent(at_s=100, node=0, up=False), NodeEvent(at_s=150, node=0, up=True)]
    runs = run([job("there", 0, 300, 4), job("elsewhere", 0, 300, 4)], fifo(), [4, 4], Costs(), events)
    assert (runs["there"].faults, runs["there"].lost, runs["there"].ended) == (1, 100, 150 + 40 + 300)
    assert (runs["elsewhere"].faults, runs["elsewhere"].ended) == (0, 300)


def test_a_job_that_its_owner_submits_again_waits_for_that() -> None:
    events = [NodeEvent(at_s=100, node=0, up=False), NodeEvent(at_s=110, node=0, up=True)]
    simulation = Simulation(
        Cluster([NodeSpec(gpus=4)]), [job("there", 0, 300, 4)], fifo(), node_events=events, resubmit_s=lambda _: 500
    )
    (run_,) = simulation.run()
    # All of its 100 s are lost; it is queued again at 600, restarts for 40 s, and its owner's absence is no wait in the queue.
    assert (run_.faults, run_.lost, run_.ended, run_.queued) == (1, 100, 600 + 40 + 300, 0)


def test_a_job_that_saves_by_itself_loses_little_to_a_fault() -> None:
    events = [NodeEvent(at_s=100, node=0, up=False), NodeEvent(at_s=101, node=0, up=True)]
    runs = run([job("saving", 0, 300, checkpoint_every_s=30)], fifo(), [1], Costs(), events)
    assert (runs["saving"].lost, runs["saving"].ended) == (10, 101 + 40 + 210)


def test_a_grace_period_delays_the_one_who_comes_and_the_one_who_goes() -> None:
    runs = run([spot("low", 0, 100), job("high", 50, 10)], YarnCs(grace_s=30), [1])
    assert (runs["high"].first_start, runs["high"].queued, runs["high"].ended) == (80, 30, 90)
    assert (runs["low"].ended, runs["low"].queued) == (90 + 50, 10)


def test_a_job_cannot_be_started_twice() -> None:
    class Twice:
        polls = False

        def submit(self, run: Run, now: float) -> None:
            self.run = run

        def ended(self, run: Run, now: float) -> None: ...

        def schedule(self, simulation: Simulation) -> None:
            simulation.start(self.run, (simulation.cluster.allocate(0, 1),))
            simulation.start(self.run, (simulation.cluster.allocate(0, 1),))

    with pytest.raises(ValueError, match="expected job twice to wait"):
        run([job("twice", 0, 1)], Twice())
