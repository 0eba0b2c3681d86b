"""Words that look like more, or less, than they are: warnings, quotations, sentences, blocks of a launcher."""

import pytest

from processors.diagnose import FailureHandler
from schedmate_records import Component, ErrorType

from .jobs import BUG, CHILD, PROGRESS, ending, run

WARNED = (
    "/opt/lib/python3.11/site-packages/torch/cuda/__init__.py:7: UserWarning: CUDA initialization: CUDA unknown error - "
    "the environment may be set up wrongly"
)
CANCELLED = [
    "slurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT 2024-01-02T03:04:05 ***",
    "srun: error: n1: task 1: Terminated",
]


def test_a_warning_of_python_is_no_failure(handler: FailureHandler) -> None:
    assert run(handler, [WARNED, *PROGRESS[:3]])[0] == []
    assert run(handler, [*PROGRESS[:3], WARNED])[0] == []


def test_a_warning_of_python_tells_of_a_bad_end(handler: FailureHandler) -> None:
    said = run(handler, [*PROGRESS[:3], WARNED], ending(exit_code=1))[0][-1]
    assert (said.error_type, said.faulty_component) == (ErrorType.INFRASTRUCTURE, Component.GPU)


def test_a_bug_told_after_the_scheduler_ended_the_step(handler: FailureHandler) -> None:
    said = run(handler, [*PROGRESS, *CANCELLED, *BUG])[0][-1]
    assert (said.error_type, said.signature) == (ErrorType.USER_SCRIPT, "KeyError")


def test_what_a_cancelled_step_makes_of_its_peers_is_no_bug(handler: FailureHandler) -> None:
    lost = "RuntimeError: [gloo/transport/tcp/pair.cc:5] Connection closed by peer [10.0.0.7]:99"
    said = run(handler, [*PROGRESS, *CANCELLED, lost])[0][-1]
    assert (said.error_type, said.root and said.root.line) == (ErrorType.OTHER, len(PROGRESS) + 1)


@pytest.mark.parametrize(
    "source",
    [
        '│    57 │   │   raise RuntimeError("CUDA error: out of memory")            │',
        '│ ❱  57 │   │   raise OSError("No space left on device")                   │',
        '---> 57     raise OSError("No space left on device")',
    ],
)
def test_source_in_a_traceback_without_its_head(handler: FailureHandler, source: str) -> None:
    said = run(handler, [*PROGRESS, source, "AssertionError: 7 heads do not divide 64", *CHILD])[0][-1]
    assert (said.error_type, said.root and said.root.line) == (ErrorType.USER_SCRIPT, len(PROGRESS) + 2)


def test_a_sentence_of_an_abort_does_not_end_well(handler: FailureHandler) -> None:
    lines = [
        "*** The MPI_Bcast() function was called before MPI_INIT was invoked.",
        "[n7:42] Local abort finished successfully, but the peers may still run",
    ]
    assert run(handler, lines)[0][-1].signature == "mpi_out_of_order"


def test_a_graph_left_as_it_was_does_no_harm(handler: FailureHandler) -> None:
    left = "2024-01-02 03:04:05.6: E tensorflow/core/grappler/optimizers/meta_optimizer.cc:900] remapper failed: INVALID_ARGUMENT: x"
    assert run(handler, [left])[0] == []
    killed = (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=17.batch. Some of the step tasks have been OOM Killed."
    )
    assert run(handler, [left, killed])[0][-1].signature == "cgroup_oom"


@pytest.mark.parametrize(
    ("why", "kind"),
    [
        ("the actor's node was preempted: spare capacity retracted", ErrorType.OTHER),
        ("Some context that says no more", ErrorType.INFRASTRUCTURE),
    ],
)
def test_why_the_node_of_an_actor_went_away(handler: FailureHandler, why: str, kind: ErrorType) -> None:
    lines = [
        "The actor died unexpectedly before finishing this task.",
        "The actor died because its node has died. Node Id: 0a",
        why,
    ]
    assert run(handler, [*PROGRESS, *lines])[0][-1].error_type is kind


def block(rank: int, message: str) -> list[str]:
    return [
        f"  rank      : {rank} (local_rank: {rank})",
        "  exitcode  : 1 (pid: 92)",
        "  traceback : Traceback (most recent call last):",
        '    File "/home/u/pretrain.py", line 10, in main',
        "      step(batch)",
        f"  RuntimeError: {message}",
        "",
    ]


@pytest.mark.parametrize(
    "words", ["is nan", "became infinite or NaN", "has become NaN", "turned to an inf or nan value"]
)
def test_a_loss_that_is_told_to_be_no_number(handler: FailureHandler, words: str) -> None:
    said = run(handler, [*PROGRESS, f"Loss {words} at iteration=60"])[0]
    assert [one.error_type for one in said[-1:]] == [ErrorType.USER_SCRIPT]


@pytest.mark.parametrize(
    "prefix",
    [
        "2024-01-02T03:04:05.678901234Z stderr F ",
        "trainer-1  | ",
        " 3: ",
        "Jan  2 03:04:05 n7 train[4242]: ",
        "(TrainWorker pid=4242, ip=10.0.0.7) ",
        "\x1b[31m",
    ],
)
def test_a_bare_word_of_the_shell_behind_what_collectors_put_in_front(handler: FailureHandler, prefix: str) -> None:
    said = run(handler, [*PROGRESS, f"{prefix}Killed"])[0][-1]
    assert (said.error_type, said.signature) == (ErrorType.OTHER, "killed_by_os")
