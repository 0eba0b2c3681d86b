"""A node's lines, samples and stays: who is told what, whichever comes first."""

import random
from collections.abc import Iterable, Sequence
from itertools import permutations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.node import HEALTHY, NodeProcessor
from processors.node_state import FINDINGS, PLACEMENTS, NodeState
from schedmate_records import (
    GpuActivity,
    GpuProcess,
    GpuSample,
    NodeFinding,
    NodeLogChunk,
    Placement,
    Position,
    Record,
    Severity,
)
from tests.metric_values import value

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus."
OOM = "oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/slurm/uid_1000/job_17/step_0,task=python,pid=4242,uid=1000"
T = 10_000.0
PROCESSOR = NodeProcessor()
TOPICS = {NodeLogChunk: "node-logs", GpuSample: "gpu-metrics", Placement: "placements"}


def run(records: Iterable[Record], state: NodeState | None = None) -> list[NodeFinding]:
    given, state = state is not None, state or NodeState(node="n1")
    made: list[Record] = []
    for offset, record in enumerate(records):
        made += PROCESSOR.process(state, Position(TOPICS[type(record)], 0, offset), record)
        state = state if given else msgspec.json.decode(msgspec.json.encode(state), type=NodeState)
    assert all(isinstance(one, NodeFinding | GpuActivity) for one in made)
    return [one for one in made if isinstance(one, NodeFinding)]


def kernel(*lines: str, time: float = T, first: int = 1) -> NodeLogChunk:
    return NodeLogChunk(node="n1", producer="p", lines=list(lines), time=time, first_line=first, first_piece=first)


def stay(job: str = "17", since: float = T - 900, until: float | None = None, attempt: int = 0) -> Placement:
    return Placement(job=job, attempt=attempt, node="n1", since=since, seen=until or since, until=until)


def reported(found: Sequence[NodeFinding]) -> list[tuple[str, int, str]]:
    return [(one.job, one.attempt, one.signature) for one in found]


def test_a_finding_reaches_the_jobs_that_are_there_whichever_comes_first() -> None:
    records = [kernel(XID), stay("17"), stay("18", attempt=2)]
    for order in permutations(records):
        found = [one for one in run(order) if one.job]
        assert set(reported(found)) == {("17", 0, "xid_fallen_off_bus"), ("18", 2, "xid_fallen_off_bus")}
        last = {one.job: one for one in found}
        assert [one.jobs for one in last.values()] == [["17", "18"], ["17", "18"]], "each knows that it is not alone"
        assert len({one.id for one in found}) == 2
        assert {(one.device, one.severity, one.place.text) for one in found} == {("0000:3b:00", Severity.FATAL, XID)}


def test_where_no_job_ran_a_finding_stands_alone() -> None:
    (one,) = run([kernel("starting", XID)])
    assert (one.job, one.node, one.place.line) == ("", "n1", 2)
    assert reported(run([stay(until=T - 500), kernel(XID)])) == [("", 0, "xid_fallen_off_bus")]


@pytest.mark.parametrize(
    ("known", "hit"),
    [
        (stay(), True),
        (stay(since=T + 500), True),  # what came ten minutes before a job may still end it
        (stay(since=T + 5000), False),
        (stay(until=T - 30), True),
        (stay(until=T - 300), False),
        (stay(since=T - 100_000), False),  # nobody heard of it for more than a day
    ],
)
def test_a_stay_lasts_from_shortly_before_it_was_known_until_shortly_after_its_end(
    known: Placement, *, hit: bool
) -> None:
    for order in permutations([known, kernel(XID)]):
        assert any(one.job == "17" for one in run(order)) is hit


def test_a_finding_that_names_its_job_reaches_no_other() -> None:
    assert reported(run([stay("17"), stay("18"), kernel(OOM)])) == [("17", 0, "oom_killer")]
    sample = GpuSample(id="s", node="n1", gpu=1, time=T, xids=[79], processes=[GpuProcess(pid=1, job="18")])
    assert reported(run([stay("17"), stay("18"), sample])) == [("18", 0, "xid_fallen_off_bus")]


def test_a_line_that_names_a_job_by_number_means_that_of_the_nodes_cluster() -> None:
    """A node's log knows numbers alone; the jobs of a Slurm cluster beside the local one go by `beta/17`."""
    for order in permutations([stay("beta/17"), stay("beta/18"), stay("beta/117"), kernel(OOM)]):
        assert {one for one in reported(run(order)) if one[0]} == {("beta/17", 0, "oom_killer")}


def test_repeats_are_folded_and_told_at_powers_of_ten() -> None:
    found = run([stay(), *(kernel(XID, time=T + number / 100, first=number + 1) for number in range(250))])
    assert [one.times for one in found] == [1, 10, 100]
    assert len({one.id for one in found}) == 3
    assert {one.place.line for one in found} == {1}
    later = run([stay(), kernel(XID), kernel(XID, time=T + 400, first=2)])
    assert [one.times for one in later] == [1, 1]


def test_lines_sent_again_say_nothing_again() -> None:
    state = NodeState(node="n1")
    assert len(run([stay(), kernel(XID)], state)) == 1
    assert run([kernel(XID)], state) == []


def samples(since: float, until: float, **fields: object) -> list[GpuSample]:
    times = range(int(since), int(until), 10)
    return [GpuSample(id="s", node="n1", gpu=0, time=float(time), ecc_uncorrected=0, **fields) for time in times]  # type: ignore[arg-type]


def test_gpus_that_were_watched_around_the_end_of_a_job_and_showed_nothing_are_called_calm_once() -> None:
    (calm,) = run([stay(), *samples(T - 300, T), stay(until=T), *samples(T, T + 200)])
    assert (calm.job, calm.signature, calm.severity) == ("17", HEALTHY, Severity.INFO)
    assert run([stay(), *samples(T - 300, T - 200), stay(until=T), *samples(T, T + 200)]) == [], "not watched"
    broken = GpuSample(id="s", node="n1", gpu=0, time=T - 5, ecc_uncorrected=2)
    found = run(
        [
            stay(),
            *samples(T - 300, T),
            broken,
            stay(until=T),
            *samples(
                T,
                T + 200,
            ),
        ]
    )
    assert [one.signature for one in found] == ["ecc_uncorrected"]


FAR = 4e9


def test_a_clock_that_was_wrong_once_does_not_blind_a_node() -> None:
    """A host that starts with its clock years ahead, or a line of a job that says so, kept the node's evidence from all jobs after it."""
    ahead = kernel("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", time=FAR)
    records = [
        ahead,
        *samples(FAR, FAR + 20),
        kernel("now", time=T - 900, first=2),
        stay("evil", since=FAR),
        stay("17"),
    ]
    found = run([*records, kernel(XID, time=T, first=3), stay("18", since=T - 100)])
    assert {("17", 0, "xid_fallen_off_bus"), ("18", 0, "xid_fallen_off_bus")} <= set(reported(found))
    calm = run([*samples(FAR, FAR + 20), stay(), *samples(T - 300, T), stay(until=T), *samples(T, T + 200)])
    assert reported(calm) == [("17", 0, HEALTHY)]


NUMBERS = st.none() | st.integers(0, 1 << 40)
TIMES = st.floats(0, 2e9)
ANY_RECORD = st.one_of(
    st.builds(
        NodeLogChunk, node=st.just("n1"), producer=st.sampled_from(["", "p"]), time=TIMES,
        lines=st.lists(st.text() | st.sampled_from([XID, OOM]), max_size=4), first_line=st.integers(0, 50), first_piece=st.integers(0, 50),
    ),
    st.builds(
        GpuSample, id=st.just("s"), node=st.just("n1"), gpu=st.integers(0, 3), time=TIMES, ecc_uncorrected=NUMBERS, rows_remapped=NUMBERS,
        nvlink_errors=NUMBERS, xids=st.lists(st.integers(0, 200), max_size=3), error=st.text(max_size=9),
    ),
    st.builds(
        Placement, job=st.sampled_from(["17", "18"]), node=st.just("n1"), since=TIMES, seen=TIMES, until=st.none() | TIMES,
    ),
)  # fmt: skip


@given(st.lists(ANY_RECORD, max_size=12))
def test_any_records_are_taken_and_the_same_ones_say_the_same(records: list[Record]) -> None:
    assert run(records) == run(records)


def test_a_nodes_state_is_bounded() -> None:
    state = NodeState(node="n1")
    run([kernel(XID, time=T + 301 * number, first=number + 1) for number in range(12)], state)
    assert len(state.findings) <= 12
    causes = [f"NVRM: Xid (PCI:0000:{number:02x}:00): 79, pid=1" for number in range(200)]
    run([kernel(*causes, time=T + 5000, first=100)], state)
    assert len(state.findings) == FINDINGS
    state = NodeState(node="n1")
    run([kernel(XID), *(stay(str(number)) for number in range(PLACEMENTS + 50))], state)
    assert len(state.placements) == PLACEMENTS


def test_new_text_beyond_the_nodes_budget_is_passed_over_and_a_sign_of_trouble_is_not() -> None:
    chance, processor, state = random.Random(0), NodeProcessor(), NodeState(node="n1")
    lines = ["".join(chance.choices("bdghjqvwz ", k=60)) for _ in range(5000)]
    chunks = [kernel(*lines[first : first + 500], first=first + 1) for first in range(0, 5000, 500)]
    for offset, chunk in enumerate([*chunks, kernel(XID, first=5001)]):
        found = processor.process(state, Position("node-logs", 0, offset), chunk)
    assert [one.signature for one in found if isinstance(one, NodeFinding)] == ["xid_fallen_off_bus"]
    assert 4000 < value(processor.metrics.passed_over) <= 5000
    assert len(msgspec.json.encode(state)) < 4000


def test_claims_push_out_no_job_that_the_scheduler_reported() -> None:
    state = NodeState(node="n1")
    honest = msgspec.structs.replace(stay("honest"), reported=True)
    claims = [stay(f"made-up-{number}", since=T + number) for number in range(PLACEMENTS + 50)]
    run([honest, *claims], state)
    assert len(state.placements) == PLACEMENTS
    found = run([kernel(OOM.replace("job_17", "job_5"), XID, time=T)], state)
    assert "honest" in {one.job for one in found}
    again = msgspec.structs.replace(honest, reported=False, until=T + 5)
    assert state.merge(again).placement.reported


def test_a_finding_that_names_a_run_reaches_its_job_alone_whichever_comes_first() -> None:
    oom = OOM.replace("/slurm/uid_1000/job_17", "/system.slice/slurmstepd.scope/sJ3SK1QYD16X00")
    known = msgspec.structs.replace(stay("beta/17", attempt=1), sluid="sJ3SK1QYD16X00")
    others = [stay("beta/17"), msgspec.structs.replace(stay("18"), sluid="sJ3SK1QYD16X01")]
    for order in permutations([kernel(oom), known, *others]):
        assert [each for each in reported(run(order)) if each[0]] == [("beta/17", 1, "oom_killer")]


def test_a_stay_of_which_the_run_is_told_later_is_one_stay() -> None:
    oom = OOM.replace("/slurm/uid_1000/job_17", "/system.slice/slurmstepd.scope/sJ3SK1QYD16X00")
    named = msgspec.structs.replace(stay(), sluid="sJ3SK1QYD16X00")
    found = run([stay(), kernel(oom), named, stay(until=T + 5)])
    assert reported(found) == [("", 0, "oom_killer"), ("17", 0, "oom_killer")]
