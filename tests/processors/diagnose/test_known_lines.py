"""Lines that a signature knows beside its own example, and look-alikes that it must leave alone."""

import pytest

from processors.diagnose.catalogue import load
from processors.diagnose.matcher import Matcher

KNOWN = [
    ("preempted", "the worker has been preempted", "the worker has been prepared"),
    ("preempted", "slice 3 was preempted by its owner", "slice 3 of the volume was read"),
    (
        "jax_coordination",
        "F0506 07:08:09.123456 14 client.h:80] Ending: the JAX distributed service detected fatal errors.",
        "the JAX distributed service is up",
    ),
    (
        "jax_coordination",
        "jax.errors.JaxRuntimeError: UNAVAILABLE: task 3 stopped",
        "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes.",
    ),
    (
        "nccl_system_error",
        "XlaRuntimeError: INTERNAL: NCCL operation ncclGroupEnd() failed: unhandled system error",
        "NCCL operation took 3 ms",
    ),
    ("tpu_workers_lost", "Slice health check failed: no answer of worker 3", "Slice health check passed"),
    ("npu_core_error", "there is an exception of aivec error, core id is 3", "aivec cores: 32"),
    ("hccl_text", "Collective call returned error: hcclRemoteError", "hcclSuccess returned"),
    ("npu_inner_error", "EZ9999: [PID: 7] 2024-05-06 Inner Error!", "EZ1001: [PID: 7] the type is not supported"),
    (
        "npu_operator_misuse",
        "call aclnnAdd failed, detail:EZ1001: [PID: 7] the type is not supported",
        "EZ9999: Inner Error!",
    ),
    (
        "engine_died",
        "RuntimeError: Engine core initialization failed. See root cause above.",
        "Engine core initialized",
    ),
    (
        "engine_died",
        "Received sigquit from a child process. It usually means the child failed.",
        "sigquit handler installed",
    ),
    (
        "engine_no_memory",
        "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
        "mem_fraction_static=0.88",
    ),
    (
        "cuda_out_of_memory",
        "[METAL] Command buffer execution failed: Insufficient Memory (00000008)",
        "[METAL] Command buffer done",
    ),
    (
        "shared_memory_full",
        "RuntimeError: unable to write to file </torch_42_1_0>: No space left on device (28)",
        "wrote to file torch_42_1_0",
    ),
    ("keyboard_interrupt", "srun: sending Ctrl-C to StepId=17.0", "srun: job 17 has been allocated resources"),
    ("killed_by_status", '      "exitCode": 137,', '      "exitCode": 1370,'),
    ("killed_by_status", "    Exit Code:    137", "    Exit Code:    0"),
    (
        "http_server_error",
        "HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://hub.local/x",
        "429 clients connected",
    ),
    (
        "tracker_not_reached",
        "wandb: ERROR Error while calling W&B API: upstream connect error (<Response [503]>)",
        "wandb: ERROR api_key not configured (no-tty).",
    ),
    (
        "output_not_brought_home",
        "Unable to copy file /spool/17.OU to u@head:/home/u/t.o17",
        "Unable to read file /spool/17.OU",
    ),
    ("ci_job_cancelled", "##[error]The runner has received a shutdown signal.", "##[group]shutdown signal"),
    (
        "ci_time_limit",
        "##[error]The job running on runner r7 has exceeded the maximum execution time of 360 minutes.",
        "##[error]Process completed with exit code 1.",
    ),
    ("ci_job_failed", "##[error]Process completed with exit code 2.", "##[group]Run tests"),
    ("memory_corrected", "EDAC MC0: 1 CE on mc#0csrow#1channel#2", "EDAC MC0: 1 UE on mc#0csrow#1channel#2"),
]


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher(load())


def name(matcher: Matcher, line: str) -> str:
    found = matcher.signature(matcher.find([line])[0], line)
    return found.name if found else ""


@pytest.mark.parametrize(("signature", "line", "lookalike"), KNOWN)
def test_a_line_is_known_and_its_lookalike_is_not(matcher: Matcher, signature: str, line: str, lookalike: str) -> None:
    assert name(matcher, line) == signature
    assert name(matcher, lookalike) != signature
