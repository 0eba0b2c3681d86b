"""Which of several suspicious lines is the root: short logs in the spirit of real ones."""

import pytest

from processors.diagnose import FailureHandler
from schedmate_records import Component, ErrorType, Failure

from .jobs import CHILD, PROGRESS, run

USER, FRAMEWORK, OTHER = ErrorType.USER_SCRIPT, ErrorType.FRAMEWORK, ErrorType.OTHER
INFRASTRUCTURE = ErrorType.INFRASTRUCTURE


def traceback(*frames: tuple[str, str], last: str) -> list[str]:
    """Return a traceback with `frames` of file and source line, which ends with the line `last`."""
    lines = [text for file, code in frames for text in (f'  File "{file}", line 7, in step', f"    {code}")]
    return ["Traceback (most recent call last):", *lines, last]


def verdict(handler: FailureHandler, lines: list[str]) -> Failure:
    """Return the verdict on a stored log of progress and `lines`; line 1 is the first after the progress."""
    said, _ = run(handler, [*PROGRESS, *lines])
    return said[-1]


def line(failure: Failure) -> int:
    assert failure.root is not None
    return failure.root.line - len(PROGRESS)


MINE, LIBRARY, OTHERS = (
    "/home/u/train.py",
    "/opt/lib/python3.11/site-packages/layers/__init__.py",
    "/x/site-packages/nets/a.py",
)


@pytest.mark.parametrize(
    ("file", "code", "last", "kind", "component"),
    [
        (MINE, "block = data.read(4096)", "TimeoutError: [Errno 110] Connection timed out", INFRASTRUCTURE, "storage"),
        (MINE, "peer.connect(address)", "TimeoutError: [Errno 110] Connection timed out", INFRASTRUCTURE, "network"),
        ("/opt/lib/python3.11/socket.py", "return self._sock.recv_into(b)", "TimeoutError: timed out", INFRASTRUCTURE, "network"),
        ("/x/site-packages/urllib3/response.py", "n = fp.read(b)", "TimeoutError: The read operation timed out", INFRASTRUCTURE, "network"),
        (LIBRARY, "n = q.read(b)", "TimeoutError: no answer of the queue", USER, "none"),
        (MINE, "fetch(url)", "urllib.error.HTTPError: HTTP Error 403: Forbidden", USER, "none"),
        (MINE, "fetch(url)", "urllib.error.HTTPError: HTTP Error 503: Service Unavailable", INFRASTRUCTURE, "network"),
        (MINE, "fetch(url)", "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: http://x", USER, "none"),
        (MINE, "save(net)", "RuntimeError: basic_ios::clear: iostream error", INFRASTRUCTURE, "storage"),
        (LIBRARY, "from torch._old import x", "ModuleNotFoundError: No module named 'torch._old'", FRAMEWORK, "none"),
        (MINE, "from torch._old import x", "ModuleNotFoundError: No module named 'torch._old'", USER, "none"),
        (LIBRARY, "import swan", "ModuleNotFoundError: No module named 'swan'", USER, "none"),
        (LIBRARY, "np.quantile(a, way='x')", "TypeError: quantile() got an unexpected keyword argument 'way'", FRAMEWORK, "none"),
        (LIBRARY, "fn(*a, **given)", "TypeError: step() got an unexpected keyword argument 'way'", USER, "none"),
        ("/opt/lib/python3.11/subprocess.py", "_fork_exec(", "BlockingIOError: [Errno 11] unavailable", INFRASTRUCTURE, "node"),
        (LIBRARY, "np.float0(x)", "AttributeError: module 'scipy' has no attribute 'float0'", FRAMEWORK, "none"),
    ],
)  # fmt: skip
def test_whose_fault_an_exception_is(  # noqa: PLR0917
    handler: FailureHandler, file: str, code: str, last: str, kind: ErrorType, component: str
) -> None:
    found = verdict(handler, traceback((MINE, "main()"), (file, code), last=last))
    assert (found.error_type, found.faulty_component) == (kind, Component(component))


def test_a_job_script_goes_on_after_a_command_that_failed(handler: FailureHandler) -> None:
    missing = "job.sh: line 3: module: command not found"
    assert line(verdict(handler, [missing, *traceback((MINE, "x"), last="KeyError: 'x'")])) == 5
    assert verdict(handler, [missing]).error_type is USER


def test_a_killed_rank_explains_the_peers_that_lost_it(handler: FailureHandler) -> None:
    lost = "[rank0]: RuntimeError: [gloo/transport/tcp/pair.cc:5] Connection closed by peer [10.0.0.7]:99"
    killed = "failed (exitcode: -9) local_rank: 1 (pid: 4477) of binary: /opt/venv/bin/python"
    found = verdict(handler, [lost, "Sending process 4476 closing signal SIGTERM", killed, *CHILD])
    assert (found.error_type, line(found)) == (OTHER, 3)


def test_a_signal_told_over_two_lines(handler: FailureHandler) -> None:
    told = ["mpirun noticed that process rank 3 with PID 77 on node n1 exited on", "signal 9 (Killed)."]
    assert line(verdict(handler, told)) == 2


@pytest.mark.parametrize(("end", "kind"), [("Killed", OTHER), ("Terminated", OTHER), ("", None)])
def test_a_shell_writes_right_behind_a_bar(handler: FailureHandler, end: str, kind: ErrorType | None) -> None:
    said, _ = run(handler, [*PROGRESS, f"step 60:  20%|##        | 200/1000 [00:34<02:16, 5.85it/s]{end}"])
    assert {one.error_type for one in said} == ({kind} if kind else set())


def test_the_script_says_itself_why_it_stops(handler: FailureHandler) -> None:
    found, _ = run(handler, [*PROGRESS, "step 60 Loss is nan, stopping the run", "{'box': nan}", "SystemExit: 1"])
    assert (found[-1].signature, line(found[-1])) == ("nan_stop", 1)


def test_what_is_tried_again_did_no_harm(handler: FailureHandler) -> None:
    late = "WARNING hub: Read timed out. (read timeout=10)"
    for again in ("Retrying in 2s [Retry 1/5].", "the request will be retried"):
        said, _ = run(handler, [*PROGRESS, late, again])
        assert {one.error_type for one in said[-1:]} <= {ErrorType.NONE}
    vain = verdict(handler, [late, "Retrying in 2s", late])
    assert (vain.signature, line(vain)) == ("connection_timeout", 1)
    assert run(handler, [*PROGRESS, *[late, "Retrying in 2s"] * 3])[0] == []
    assert verdict(handler, ["CUDA error: uncorrectable ECC error encountered", "Retrying in 2s"]).root is not None


def test_a_cpp_exception_is_told_by_its_message(handler: FailureHandler) -> None:
    thrown = "terminate called after throwing an instance of 'std::runtime_error'"
    found = verdict(handler, [thrown, "  what():  NCCL error: unhandled system error, NCCL version 9.9"])
    assert (found.error_type, line(found)) == (INFRASTRUCTURE, 2)
    assert line(verdict(handler, [thrown, "  what():  no such row"])) == 1


def test_the_driver_says_more_of_a_gpu_than_the_program(handler: FailureHandler) -> None:
    told = [f"[rank0]: {one}" for one in traceback((MINE, "x"), last="RuntimeError: CUDA error: unknown error")]
    xid = "[ 99.1] NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus."
    for lines, expected in (([xid, *told], 1), ([*told, xid], 5)):
        found = verdict(handler, [*lines, *CHILD, *account(0)])
        assert (found.signature, line(found)) == ("xid_fallen_off_bus", expected)


def account(rank: int) -> list[str]:
    return [
        "Failures:",
        "[1]:",
        "  rank      : 5 (local_rank: 5)",
        "Root Cause (first observed failure):",
        "[0]:",
        f"  rank      : {rank} (local_rank: {rank})",
        "  exitcode  : 1 (pid: 4242)",
    ]


def test_what_was_only_warned_of_gives_way_to_what_then_failed_so(handler: FailureHandler) -> None:
    warned = "/x/site-packages/torch/cuda/__init__.py:7: UserWarning: GPU X is not compatible with the current PyTorch installation."
    failed = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
    found = verdict(handler, [warned, *traceback((MINE, "x + 1"), last=failed)])
    assert (found.error_type, line(found)) == (FRAMEWORK, 5)
    assert run(handler, [*PROGRESS, warned])[0] == []


def test_a_pod_that_found_its_place_did_not_fail(handler: FailureHandler) -> None:
    waits = "Warning  FailedScheduling  5m  default-scheduler  0/7 nodes are available: 7 Insufficient nvidia.com/gpu."
    placed = "Normal   Scheduled  4m  default-scheduler  Successfully assigned ml/train-0 to n7"
    assert verdict(handler, [waits]).error_type is OTHER
    assert run(handler, [*PROGRESS, waits, placed])[0] == []


def test_an_engine_that_died_tells_less_than_its_worker(handler: FailureHandler) -> None:
    dead = traceback((LIBRARY, "await core.next()"), last="vllm.v1.engine.exceptions.EngineDeadError: EngineCore died.")
    worker = [f"(EngineCore pid=7) {one}" for one in traceback((MINE, "run()"), last="ValueError: no such layer")]
    for lines, expected in (([*dead, *worker], 8), ([*worker, *dead], 4)):
        found = verdict(handler, lines)
        assert (found.signature, line(found)) == ("ValueError", expected)


def test_a_traceback_behind_a_prefix_that_nobody_knows(handler: FailureHandler) -> None:
    lead = "17 {collector pod-ab/7} ~ "
    lines = traceback((MINE, "x"), (LIBRARY, "y"), last="OSError: [Errno 28] No space left on device")
    found = verdict(handler, [lead.replace("7", str(number)) + one for number, one in enumerate(lines)])
    assert (found.signature, line(found)) == ("no_space", 6)


def test_a_traceback_cut_off_yields_to_what_is_told_in_full(handler: FailureHandler) -> None:
    cut = traceback((MINE, "x"), last="…")[:3]
    assert verdict(handler, [*cut, "OSError: [Errno 28] No space left on device"]).signature == "no_space"


def test_what_a_peer_said_before_it_went_away_explains_that_it_was_lost(handler: FailureHandler) -> None:
    fatal = "[coordinator] FATAL: lost the lease, stepping down"
    assert line(verdict(handler, [fatal, "BrokenPipeError: [Errno 32] Broken pipe"])) == 1


@pytest.mark.parametrize(
    "told",
    [
        "ERROR 05-06 07:08:09 engine.py:366] ValueError: the model is too long",
        "the runner met an error (exit 1): pack.errors.ValueError: the model is too long",
    ],
)
def test_an_exception_that_a_sentence_tells_of(handler: FailureHandler, told: str) -> None:
    assert verdict(handler, [told]).signature == "ValueError"


def test_a_kill_before_an_error_of_the_program_is_another_matter(handler: FailureHandler) -> None:
    killed = "helper.sh: line 2: 828 Killed                  ./simulator"
    error = traceback((MINE, "out.mkdir()"), last="PermissionError: [Errno 13] Permission denied: '/data/x'")
    assert line(verdict(handler, [killed, *error])) == 5
    assert line(verdict(handler, [killed, "RuntimeError: gloo: Connection closed by peer [10.0.0.7]:23"])) == 1


def test_a_program_that_aborts_mpi_said_why_before(handler: FailureHandler) -> None:
    lines = [
        "  Error in routine read_input (1): bad line",
        "Abort(1) on node 0 (rank 0 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 1) - process 0",
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        "slurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT 2024-01-02T03:04:05 ***",
        "srun: error: n1: tasks 0-35: Killed",
    ]
    found = verdict(handler, lines)
    assert (line(found), found.error_type, found.restartable) == (1, USER, False)


def test_a_wrong_key_is_no_consequence_of_a_lost_peer(handler: FailureHandler) -> None:
    lost = "[rank4]: RuntimeError: NCCL communicator was aborted on rank 4."
    found = verdict(handler, [lost, *(f"[rank3]: {one}" for one in traceback((MINE, "x"), last="KeyError: 'x'"))])
    assert (found.signature, line(found)) == ("KeyError", 5)


def test_ranks_are_told_apart_behind_a_prefix_that_nobody_knows(handler: FailureHandler) -> None:
    pairs = zip(
        traceback((MINE, "x"), last="RuntimeError: NCCL communicator was aborted on rank 0."),
        traceback((LIBRARY, "y"), last="KeyError: 'x'"),
        strict=True,
    )
    lines = [
        f"<03:04:0{at}> box-7 [rank={rank}] || {one}" for at, pair in enumerate(pairs) for rank, one in enumerate(pair)
    ]
    assert verdict(handler, lines).signature == "KeyError"


def test_a_traceback_in_one_line_of_a_structured_log(handler: FailureHandler) -> None:
    told = r"""{"msg": "boom", "exc": "Traceback (most recent call last):\n  File \"/x/a.py\", line 3, in f\n    g()\nKeyError: 'loss'"}"""
    found = verdict(handler, [told])
    assert (found.signature, found.message) == ("KeyError", "KeyError: 'loss'")


@pytest.mark.parametrize(
    ("head", "frames"),
    [
        (
            "╭──────── Traceback (most recent call last) ────────╮",
            [f"│ {LIBRARY}:7 in <module>          │", "│ ❱ 7 │ y │"],
        ),
        (
            "ImportError                 Traceback (most recent call last)",
            [f"File {LIBRARY}:7, in <module>", "----> 7 y"],
        ),
    ],
)
def test_boxes_and_notebooks_tell_where_it_happened(handler: FailureHandler, head: str, frames: list[str]) -> None:
    found = verdict(handler, [head, *frames, "╰─────╯", "RuntimeError: this build does not fit"])
    assert (found.error_type, found.signature) == (FRAMEWORK, "RuntimeError")


def test_general_words_count_where_nothing_better_is_known(handler: FailureHandler) -> None:
    words = "ERROR the endpoint of rank 7 timed out"
    found = verdict(handler, [words])
    assert (found.error_type, found.faulty_component, found.confidence) == (INFRASTRUCTURE, Component.NETWORK, 0.3)
    assert verdict(handler, traceback((MINE, "x"), last=f"RuntimeError: {words}")).faulty_component is Component.NETWORK
    assert verdict(handler, traceback((MINE, "x"), last=f"ValueError: {words}")).error_type is USER
    assert run(handler, [*PROGRESS, words, *PROGRESS])[0] == []


@pytest.mark.parametrize(
    "lines",
    [
        [
            "I tensorflow/core/framework/local_rendezvous.cc:404] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence"
        ],
        [
            "[W socket.cpp:1] [c10d] The client socket has failed to connect to [n1]:99 (errno: 97 - Address family not supported)."
        ],
        ["fatal: not a git repository (or any of the parent directories): .git", "done"],
        ["ERROR: the table has no entry, taking the default", *(f"wrote part {number}" for number in range(20))],
        ["Failed tests: 0"],
        [
            *traceback((MINE, "import fused"), last="ImportError: no fused kernels"),
            *(f"wrote part {number}" for number in range(600)),
        ],
    ],
)
def test_lines_that_look_like_failures_in_a_log_that_prints_no_progress(
    handler: FailureHandler, lines: list[str]
) -> None:
    said, _ = run(handler, lines)
    assert not said or said[-1].error_type is ErrorType.NONE


def test_a_general_exception_without_a_message_is_explained_by_the_compiler_that_speaks_below_it(
    handler: FailureHandler,
) -> None:
    source = [f"  value_{chr(97 + number % 26)} = load(stream);" for number in range(70)]
    said = "nvrtc: error: invalid value for --gpu-architecture (-arch)"
    found = verdict(handler, [*traceback((MINE, "fuse(a)"), last="RuntimeError:"), *source, said])
    assert (found.error_type, line(found)) == (FRAMEWORK, 4 + 70 + 1)
    alone = verdict(handler, traceback((MINE, "fuse(a)"), last="RuntimeError:"))
    assert (alone.error_type, alone.signature, line(alone)) == (USER, "RuntimeError", 4)
