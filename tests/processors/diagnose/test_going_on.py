"""Jobs that print alarming words and end well, and jobs that fail although they print words of that kind."""

from collections.abc import Sequence

import pytest

from processors.diagnose import Ending, FailureHandler
from schedmate_records import ErrorType

from .jobs import BUG, CHILD, PROGRESS, UNKNOWN, ending, run, view

MEMORY = "CUDA out of memory. Tried to allocate 1.20 GiB (GPU 0; 15.78 GiB total capacity)"
IMAGE = "PIL.UnidentifiedImageError: cannot identify image file 'a.jpg'"
RESET = "ConnectionResetError: [Errno 104] Connection reset by peer"
HOOKED = [f"[rank1]: {line}" for line in BUG]
TEARDOWN = "E0102 03:04:05.678000 42 torch/distributed/elastic/multiprocessing/api.py:900] failed (exitcode: 1) local_rank: 1 (pid: 43)"


def root(handler: FailureHandler, lines: Sequence[str], end: Ending = UNKNOWN, size: int = 500) -> int | None:
    """Return the line that the verdict in force names at the end; None where there is no failure."""
    said = run(handler, lines, end, size)[0][-1:]
    return next((one.root.line for one in said if one.root is not None), None)


@pytest.mark.parametrize(
    ("error", "word"),
    [
        ([IMAGE], "skipping corrupt sample (1 so far)"),
        ([RESET], "env 7 crashed, restarting it"),
        ([*BUG[:-1], "ModuleNotFoundError: No module named 'amp_C'"], "apex is not available, using torch.optim.AdamW instead"),
        ([*BUG[:-1], "ModuleNotFoundError: No module named 'flash_attn'"], "flash-attn not found, falling back to plain attention"),
        ([MEMORY], "no memory for this one, skipping batch"),
    ],
)  # fmt: skip
def test_a_word_of_how_the_program_goes_on(handler: FailureHandler, error: list[str], word: str) -> None:
    lines = [*PROGRESS[:9], *error, word]
    assert root(handler, lines)  # it says so, and may not do it
    assert root(handler, [*lines, PROGRESS[9]]) is None
    assert (root(handler, [*lines, PROGRESS[9], *error]) or 0) > len(lines)


def test_what_goes_on_in_words_counts_where_the_attempt_ended_badly(handler: FailureHandler) -> None:
    lines = [*PROGRESS[:9], IMAGE, "skipping corrupt sample", PROGRESS[9]]
    assert root(handler, lines, ending(exit_code=1)) == 10


def test_trying_again_in_vain(handler: FailureHandler) -> None:
    lines = [*PROGRESS[:9], RESET, "worker 0 crashed, restarting it (3 of 3)"]
    assert root(handler, [*lines, "worker 0: giving up after 3 restarts", "cleaning up", "copying logs", "exit"]) == 10


def test_a_live_verdict_is_retracted_and_comes_back(handler: FailureHandler) -> None:
    _, state = run(handler, PROGRESS[:9])
    state.ending = None
    first = handler.observe(view(BUG, 10), state)
    assert first[-1].error_type is ErrorType.USER_SCRIPT
    gone = handler.observe(view(["worker 0 crashed, restarting it", PROGRESS[9]], 16), state)
    assert gone[-1].error_type is ErrorType.NONE
    again = handler.conclude(ending(exit_code=1), state)
    assert again[-1].error_type is ErrorType.USER_SCRIPT


@pytest.mark.parametrize(
    "words",
    [
        "| done training in 501.2 seconds",
        "all done",
        "bye",
        "[after training is done] datetime: 2024-12-03 14:00:00",
        "reached max_steps=103",
        "results written to out/eval.json",
        "successfully saved checkpoint at iteration 5000 to ckpt",
        "Trial PPO_env terminated after 24 iterations: training_iteration >= 24",
        "(main pid=4242) Best trial: 2 (0.93)",
    ],
)
def test_last_words_after_some_progress(handler: FailureHandler, words: str) -> None:
    lines = [*PROGRESS[:9], MEMORY, *PROGRESS[9:12], words]
    assert root(handler, lines) is None
    assert root(handler, lines[:-1])
    assert run(handler, [*PROGRESS[:9], *BUG, words])[0][-1].signature == "KeyError"  # a job script's own
    assert run(handler, [*lines, *BUG])[0][-1].error_type is ErrorType.USER_SCRIPT  # and those of a phase
    assert run(handler, lines, ending(exit_code=1))[0][-1].signature == "cuda_out_of_memory"


@pytest.mark.parametrize("words", ["done in 12.1 s (failed)", "emergency checkpoint: model saved to out/x.pt"])
def test_last_words_of_trouble(handler: FailureHandler, words: str) -> None:
    assert root(handler, [*PROGRESS[:9], MEMORY, *PROGRESS[9:12], words])


def test_a_table_of_results_after_a_start_up_error(handler: FailureHandler) -> None:
    error = (
        "[1700000000.1] [n1:42 :0] ib_md.c:1933 UCX  ERROR ibv_open_device(mlx5_9) failed: No such file or directory"
    )
    rows = [
        "# Size       Avg Latency(us)",
        "4                       2.31",
        "1024                    4.12",
        "1048576               180.22",
    ]
    assert root(handler, [error, *rows]) is None
    assert root(handler, [error, *rows[:3]])


def test_a_warning_of_a_logger(handler: FailureHandler) -> None:
    warned = f"2024-02-02 10:00:00 | WARNING | fairseq.trainer | OOM: Ran out of memory with exception: {MEMORY}"
    assert root(handler, [warned, PROGRESS[0]]) is None
    assert root(handler, [*PROGRESS[:9], warned])
    gone = "[rank1]:[W1203 03:10:05.678 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=4): Connection reset by peer"
    assert root(handler, [*PROGRESS[:9], "training run finished, closing process groups", gone]) is None
    assert root(handler, [*PROGRESS[:9], gone])


def test_a_text_that_is_quoted_as_data(handler: FailureHandler) -> None:
    lines = [
        '[3/8] input: "Out of memory: Killed process 4242 (python)" label: memory prediction: memory OK',
        '{"idx": 0, "prompt": "Explain: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", "score": 1.0}',
        "reference: 'Bus error (core dumped)' score 0.5",
    ]
    assert root(handler, lines) is None
    assert root(handler, [f'input: "ok" {MEMORY}'])
    assert root(handler, [f'ERROR:trainer:message: "{MEMORY}"'])


def test_a_report_of_tests(handler: FailureHandler) -> None:
    lines = [
        "XFAIL tests/test_errors.py::test_out_of_memory - RuntimeError: CUDA out of memory",
        "SKIPPED [1] tests/test_oom.py:40: needs 2 GPUs: RuntimeError: NCCL error",
    ]
    assert root(handler, lines) is None
    assert root(handler, [MEMORY, "==== 210 passed, 1 skipped, 1 xfailed, 12 warnings in 133.91s ===="]) is None
    failed = [
        "FAILED tests/test_a.py::test_x - RuntimeError: CUDA out of memory",
        "==== 1 failed, 209 passed in 33.91s ====",
    ]
    assert root(handler, [*lines, *failed])


def test_a_server_tells_what_a_request_met(handler: FailureHandler) -> None:
    lines = ["ERROR:    Exception in ASGI application", *BUG, "INFO:     Application shutdown complete."]
    assert root(handler, lines) is None
    assert run(handler, lines, ending(exit_code=1))[0][-1].signature == "KeyError"


def test_a_watchdog_of_one_rank_and_progress_without_labels(handler: FailureHandler) -> None:
    watchdog = (
        "[rank3]:[E1203 10:12:11.112 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout"
    )
    assert root(handler, [watchdog, *PROGRESS[:6]]) is None


def test_the_hook_of_one_rank_and_progress_without_labels(handler: FailureHandler) -> None:
    lines = [*HOOKED, *PROGRESS[:10]]
    assert run(handler, lines)[0][-1].signature == "KeyError"
    assert run(handler, [*HOOKED, "worker crashed, restarting it", *PROGRESS[:10]])[0][-1].signature == "KeyError"


def test_a_launcher_that_starts_all_ranks_again(handler: FailureHandler) -> None:
    reports = [f"[rank0] {line}" for line in PROGRESS[:6]]
    lines = [*reports, *HOOKED, TEARDOWN, *reports]
    assert root(handler, lines) is None
    assert run(handler, lines[:-3])[0][-1].signature == "KeyError"
    assert (root(handler, [*lines, *HOOKED, TEARDOWN, *CHILD]) or 0) > len(lines)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_chunks_change_no_verdict(handler: FailureHandler, size: int) -> None:
    lines = [*PROGRESS[:9], IMAGE, "skipping corrupt sample", PROGRESS[9], MEMORY, *PROGRESS[10:13], "all done", RESET]
    assert root(handler, lines, size=size) == root(handler, lines) == 13
    assert root(handler, lines[:-1], size=size) is None


@pytest.mark.parametrize(
    "line",
    [
        "ERROR: model saved to out/x.pt could not be read back",
        "ERROR: ignoring it is not possible",
        "FATAL: skipping batch 7 would lose data, aborting",
        "ERROR: worker 0: giving up after 3 restarts",
    ],
)
def test_an_error_in_such_words(handler: FailureHandler, line: str) -> None:
    assert root(handler, [*PROGRESS[:9], line]) == 10
