"""The same lines give the same verdict, however they arrive; and no input, however mangled, makes the handler raise or hang."""

import random
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.diagnose import FailureHandler, HandlerState
from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import EventKind, Failure, JobEvent, LogChunk, Position

from .jobs import BUG, CHILD, FALLEN, PROGRESS, REMOTE, UNKNOWN, view

HANDLER = FailureHandler()
PROCESSOR = JobProcessor()
CORPUS = sorted((Path(__file__).resolve().parents[3] / "benchmarks" / "corpus" / "failures" / "logs").glob("*/*.log"))

ENDS: list[list[str]] = [
    BUG,
    [REMOTE],
    [FALLEN, REMOTE],
    CHILD,
    [],
    ["[Errno 28] No space left on device"],
    ["Killed"],
    ["ERROR something is off"],
    ["job.sh: line 3: module: command not found", *BUG],
    [*BUG[:3]],
    ["[rank1]: RuntimeError: NCCL communicator was aborted on rank 1."],
    ["failed (exitcode: -9) local_rank: 1 (pid: 4477) of binary: python", *CHILD],
    ["Root Cause (first observed failure):", "[0]:", "  rank      : 1 (local_rank: 1)"],
    ["<03> box-7 [rank=1] | " + line for line in BUG],
    ["FATAL: lost the lease, stepping down"],
    ["fetch: Read timed out", "retrying in 2 s"],
    ["fetch: Read timed out", "retrying in 2 s", "fetch: Read timed out"],
]


def conclusion(said: Sequence[Failure]) -> tuple[object, ...] | None:
    if not said or said[-1].error_type == "none":
        return None
    last = said[-1]
    return last.signature, last.error_type, last.rank, last.root and last.root.line, last.message, last.restartable


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from(ENDS), st.floats(0, 600)), min_size=1, max_size=5),
    st.integers(1, 80),
    st.randoms(use_true_random=False),
)
def test_ranks_interleaved_in_any_order_have_one_root(
    ends: list[tuple[list[str], float]], size: int, chance: random.Random
) -> None:
    """All ranks make progress, and stop one after the other; their chunks come in order within a rank, in any order between them."""
    verdicts = []
    for turn in range(3):
        waiting = []
        for rank, (end, late) in enumerate(ends):
            lines = [*PROGRESS, *end]
            chunks = [view(lines[at : at + size], at + 1, rank, 1000.0) for at in range(0, len(PROGRESS) - size, size)]
            done = sum(len(one.lines) for one in chunks)
            rest = lines[done:]
            split = len(PROGRESS) - done
            chunks.append(view(rest[:split], done + 1, rank, 1000.0))
            if rest[split:]:
                chunks.append(view(rest[split:], done + split + 1, rank, 1010.0 + late))
            waiting.append(chunks)
        state, said = HandlerState(), []
        while any(waiting):
            pick = chance.choice([one for one in waiting if one]) if turn else next(one for one in waiting if one)
            said += HANDLER.observe(pick.pop(0), state)
        verdicts.append(conclusion(said + HANDLER.conclude(UNKNOWN, state)))
    assert verdicts[0] == verdicts[1] == verdicts[2]


def test_the_root_is_that_of_the_rank_that_failed_first() -> None:
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        state, said = HandlerState(), []
        for rank in order:
            said += HANDLER.observe(view(BUG, 60, rank, 1000.0 + (rank - 1) ** 2 * 5), state)
        assert (said + HANDLER.conclude(UNKNOWN, state))[-1].rank == 1


def test_what_one_rank_tries_again_may_be_the_end_of_another() -> None:
    late, again = "fetch: Read timed out", "retrying in 2 s"
    for order in ([0, 1], [1, 0]):
        state, said = HandlerState(), []
        for rank in order:
            lines = [late, again] if rank == 0 else [late]
            said += HANDLER.observe(view([*PROGRESS, *lines], 1, rank, 1000.0 + rank), state)
        last = (said + HANDLER.conclude(UNKNOWN, state))[-1]
        assert (last.signature, last.rank) == ("connection_timeout", 1)


def through(lines: Sequence[str], size: int) -> list[object]:
    """Put `lines` through all processors of a job, in chunks of `size`, and conclude."""
    state, made = JobState(job="j"), []
    for offset, at in enumerate(range(0, len(lines), size)):
        chunk = LogChunk(
            job="j",
            lines=list(lines[at : at + size]),
            time=1000.0 + at,
            first_line=at + 1,
            first_piece=at + 1,
            producer="p",
        )
        made += PROCESSOR.process(state, Position("job-logs", 0, offset), chunk)
    end = JobEvent(id="e", job="j", kind=EventKind.ENDED, time=9000.0)
    return [*made, *PROCESSOR.process(state, Position("job-events", 0, 0), end)]


@pytest.mark.skipif(
    not CORPUS, reason="the corpus of failures is not there: python -m benchmarks.corpus.failures.generate makes it"
)
@given(st.sampled_from(CORPUS or [Path()]), st.sampled_from([1, 7, 20, 333]))
def test_real_failures_have_one_verdict_in_chunks_of_any_size(log: Path, size: int) -> None:
    lines = log.read_text(errors="backslashreplace").split("\n")[-1500:]
    found = [conclusion([one for one in through(lines, each) if isinstance(one, Failure)]) for each in (500, size)]
    assert found[0] == found[1]


@pytest.mark.skipif(
    not CORPUS, reason="the corpus of failures is not there: python -m benchmarks.corpus.failures.generate makes it"
)
@given(
    st.sampled_from(CORPUS or [Path()]),
    st.randoms(use_true_random=False),
    st.sampled_from(["cut", "shuffled", "doubled", "noise"]),
)
def test_mangled_failures_neither_raise_nor_hang(log: Path, chance: random.Random, how: str) -> None:
    lines = log.read_text(errors="backslashreplace").split("\n")[-1500:]
    if how == "cut":
        start = chance.randrange(len(lines))
        lines = [line[: chance.randrange(len(line) + 1)] for line in lines[start:]]
    elif how == "shuffled":
        parts = [lines[at : at + 20] for at in range(0, len(lines), 20)]
        chance.shuffle(parts)
        lines = [line for part in parts for line in part]
    elif how == "doubled":
        lines = [line for line in lines for _ in range(chance.randrange(1, 4))]
    else:
        for _ in range(len(lines) // 3 + 1):
            junk = "".join(chr(chance.randrange(1, 0x2FF)) for _ in range(chance.randrange(300))).replace("\n", " ")
            place = chance.randrange(len(lines))
            lines[place] = lines[place] + junk if chance.random() < 0.5 else junk
    began = time.process_time()
    through(lines, 500)
    assert time.process_time() - began < 20
