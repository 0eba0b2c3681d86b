"""Lines of wrappers, vendor layers and schedulers, and static conditions that a restart does not change."""

import pytest

from processors.diagnose import FailureHandler
from schedmate_records import Component, ErrorType

from .jobs import BUG, PROGRESS, run
from .test_root import line, verdict

INFRASTRUCTURE, FRAMEWORK, USER, OTHER = (
    ErrorType.INFRASTRUCTURE,
    ErrorType.FRAMEWORK,
    ErrorType.USER_SCRIPT,
    ErrorType.OTHER,
)


@pytest.mark.parametrize(
    ("text", "kind", "component", "restartable"),
    [
        ("[run-17 2026-05-01T08:00:01.120Z] [08:00:01] Fatal: CUDA error 999 'unknown error' - a.cu:7", INFRASTRUCTURE, "gpu", True),
        ("(Actor pid=99) [2026-06-01 10:00:00,123 C 77 77] client.cc:142:  Check failed: queue.ok()", FRAMEWORK, "none", False),
        ("rdma mlx5_2: post_send_nop:81:(pid 4): wait on completion failed. status -110", INFRASTRUCTURE, "network", True),
        ("mlx5_core 17:00.0: mlx5_cmd_out_err:8:(pid 5): CREATE_MKEY failed, status bad state(0x9)", INFRASTRUCTURE, "network", True),
        ("009 (51.001.000) 2026-04-02 09:12:40 Job was aborted.", OTHER, "none", True),
        ("RuntimeError: operator torchvision::nms does not exist", FRAMEWORK, "none", False),
        ("ImportError: cannot import name 'Cache' from 'hub' (/v/lib/python3/site-packages/hub/__init__.py)", FRAMEWORK, "none", False),
        ("cuFFT error: 6", FRAMEWORK, "none", False),
        ("RuntimeError: cuBLAS API failed with status 14", FRAMEWORK, "none", False),
        ("[2]<stderr>:cudnnBackendExecute failed: error code 5003 (conv.cc:7)", FRAMEWORK, "none", False),
        ("cusolverDnCreate returned status 2", USER, "none", False),
        ("=>> PBS: job killed: cput 7300 exceeded limit 7200", OTHER, "none", False),
        ("    Exit_status = -27", INFRASTRUCTURE, "node", False),
        ("    Exit_status = 271", OTHER, "none", True),
        ("failed       37  : qmaster enforced h_rt, h_cpu, or h_vmem limit", OTHER, "none", False),
        ("failed       100 : assumedly after job", OTHER, "none", True),
        ("TERM_SWAP: job killed after reaching LSF swap usage limit.", INFRASTRUCTURE, "node", False),
        ("Exited by signal 9.", OTHER, "none", True),
        ("Usage of EmptyDir volume \"scratch\" exceeds the limit \"10Gi\".", INFRASTRUCTURE, "storage", False),
        ("libibverbs: ibv_reg_mr failed, raise the memlock limit", INFRASTRUCTURE, "node", False),
        ("/bin/bash: line 1: ibv_devinfo: command not found", USER, "none", False),
        ("[E] context.cpp:71 CUDA driver version is insufficient for CUDA runtime version (35)", INFRASTRUCTURE, "gpu", False),
        ("nvidia-container-cli: requirement error: unsatisfied condition: cuda>=13.0", INFRASTRUCTURE, "gpu", False),
        ("CUDA error: system has unsupported display driver / cuda driver combination", INFRASTRUCTURE, "gpu", True),
        ("ERROR: LoadError: InterruptException:", OTHER, "none", True),
        ("/opt/torch/bin/luajit: interrupted!", OTHER, "none", True),
        ("Operation terminated by user during fit (line 12)", OTHER, "none", True),
        ('Exception in thread "main" java.lang.InterruptedException: sleep interrupted', OTHER, "none", True),
        ("[libprotobuf FATAL google/protobuf/arena.h:77] CHECK failed: (size) <= (limit): ", FRAMEWORK, "none", False),
        ("E0601 10:00:00.123456 77 store.cc:81] CHECK_EQ failed: rows == expected (10 vs. 11)", FRAMEWORK, "none", False),
    ],
)  # fmt: skip
def test_lines_of_wrappers_and_vendor_layers(
    handler: FailureHandler, text: str, kind: ErrorType, component: str, restartable: bool
) -> None:
    found = verdict(handler, [text])
    assert (found.error_type, found.faulty_component, found.restartable) == (kind, Component(component), restartable)


def test_specific_message_wins_over_a_status_word_and_a_banner(handler: FailureHandler) -> None:
    table = ["| status | UNAVAILABLE |", "| reason | world_size must equal dp * tp: 8 != 2 * 3 |"]
    assert (verdict(handler, table).error_type, line(verdict(handler, table))) == (USER, 2)
    banner = ["*" * 40, "ERROR: job failed", "*" * 40, "ValueError: num_heads (12) must be divisible by tp (5)"]
    assert (verdict(handler, banner).error_type, line(verdict(handler, banner))) == (USER, 4)


def test_lost_peer_after_the_end_of_the_training_is_no_failure(handler: FailureHandler) -> None:
    lost = "NCCL WARN Call to recv from 10.0.0.1 failed : Connection reset by peer"
    assert run(handler, [*PROGRESS, "Training finished.", lost, lost])[0] == []
    assert verdict(handler, [lost]).error_type is INFRASTRUCTURE
    after = verdict(handler, ["Training finished.", "CUDA error: uncorrectable ECC error encountered"])
    assert after.error_type is INFRASTRUCTURE


@pytest.mark.parametrize("line", ["cublasSgemm: status 0", "cuDNN version 8", "Exit_status=0", "failed       0"])
def test_status_codes_of_success_are_no_failure(handler: FailureHandler, line: str) -> None:
    assert run(handler, [*PROGRESS, line])[0] == []


@pytest.mark.parametrize(
    "start", ["[launcher] attempt 2 of 3", "Restart 2: launching train.py", "Starting training run (attempt 2)"]
)
def test_newest_start_decides_the_verdict(handler: FailureHandler, start: str) -> None:
    few = PROGRESS[:2]
    lines = [*few, "RuntimeError: CUDA error: uncorrectable ECC error encountered", start, *few]
    assert {one.error_type for one in run(handler, lines)[0][-1:]} <= {ErrorType.NONE}
    assert run(handler, [*lines, *BUG])[0][-1].signature == "KeyError"
    assert run(handler, lines[:-2])[0][-1].faulty_component is Component.GPU


@pytest.mark.parametrize(
    "lines",
    [
        ["tests/test_node.py::test_ecc FAILED", "E   AssertionError: CUDA error: uncorrectable ECC error encountered", "=== 1 failed ==="],
        ['+ grep -c "Bus error" train.log', "0", "+ echo no bus errors"],
        ["[simulate] injecting fault: NCCL error: unhandled system error", "[simulate] ok"],
        ["skipped: test_two_gpus (NCCL error: unhandled system error without NVLink)", "ok 12 tests"],
        ["WARN health: node n7 had Xid 79 yesterday, excluded"],
        ["kernel: [123.4] nfs: server fs1 not responding, still trying", "kernel: [130.4] nfs: server fs1 OK", *PROGRESS[:1]],
        ["retry 1/5: ssh: connect to host n7 port 22: Connection timed out", "connected to n7"],
        ["parser.add_argument('--oom', help='what to do when Out of memory: Killed process occurs')"],
        ["usage: gpu-check [-h]", "  --ecc        fail on uncorrectable ECC errors"],
        ["ReadTimeoutError: Read timed out.", "download failed (attempt 1 of 3), trying again", *PROGRESS[:1]],
        ["Known issues:", " - NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus", " * Xid 48: double bit ECC error"],
        ["| Xid | meaning | action |", "| 48 | Double Bit ECC Error | reset |", "| 79 | GPU has fallen off the bus | reboot |"],
        ["A double-bit ECC error may occur on hot GPUs.", "If you see NCCL error: unhandled system error, check the cables."],
        ["$ dmesg | grep -i xid", '$ nvidia-smi -q | grep -i "fallen off the bus"'],
    ],
)  # fmt: skip
def test_line_about_a_fault_blames_no_node(handler: FailureHandler, lines: list[str]) -> None:
    found, _ = run(handler, [*PROGRESS[:9], *lines])
    assert not found or found[-1].error_type is not INFRASTRUCTURE


@pytest.mark.parametrize(
    "probe",
    [
        "env: 'ibstat': No such file or directory",
        "bash: line 3: nvidia-smi: command not found",
        "sh: 1: ibv_devinfo: not found",
    ],
)
@pytest.mark.parametrize("failure", ["ERROR could not build the tokenizer: no words", "ERROR: the loss is unstable"])
def test_error_of_the_program_precedes_a_missing_tool_after_which_the_script_went_on(
    handler: FailureHandler, probe: str, failure: str
) -> None:
    launcher = "srun: error: node01: task 0: Exited with exit code 1"
    assert line(verdict(handler, [probe, *PROGRESS[:2], failure, launcher])) == 4


def test_error_in_a_list_without_a_heading_is_a_failure(handler: FailureHandler) -> None:
    assert (
        verdict(handler, [*PROGRESS[:2], "  - OSError: [Errno 28] No space left on device"]).faulty_component
        == "storage"
    )


def test_list_of_known_errors_ends(handler: FailureHandler) -> None:
    listed = ["Troubleshooting:", "- 'CUDA out of memory': lower the batch size", *PROGRESS[:1]]
    assert run(handler, listed)[0] == []
    assert verdict(handler, [*listed, *BUG]).signature == "KeyError"


def test_interrupt_inside_a_failed_task_is_of_a_person(handler: FailureHandler) -> None:
    lines = ["ERROR: LoadError: TaskFailedException", "", "    nested task error: InterruptException:"]
    assert verdict(handler, lines).error_type is OTHER


def test_message_on_the_lines_after_an_exception_explains_it(handler: FailureHandler) -> None:
    header = ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "AssertionError: "]
    found = verdict(handler, [*header, "The NVIDIA driver on your system is too old (found version 11000)."])
    assert (found.error_type, found.restartable) == (INFRASTRUCTURE, False)


def test_error_of_the_program_precedes_a_failed_installation_after_which_the_script_went_on(
    handler: FailureHandler,
) -> None:
    failed = ["  error: subprocess-exited-with-error", "  │ exit code: -4", "  ╰─> [14 lines of output]"]
    found = verdict(handler, [*failed, *(f"loading shard {number}" for number in range(20)), *BUG])
    assert found.signature == "KeyError"
    assert verdict(handler, failed).signature == "pip_failed"


def test_first_line_of_a_native_abort_is_the_root(handler: FailureHandler) -> None:
    lines = [
        "terminate called after throwing an instance of 'std::runtime_error'",
        "  what():  no width",
        "Aborted (core dumped)",
    ]
    assert line(verdict(handler, lines)) == 1
