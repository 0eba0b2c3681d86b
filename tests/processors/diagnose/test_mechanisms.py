"""Lines of wrappers, vendor layers and schedulers, and static conditions that a restart does not change."""

import pytest

from processors.diagnose import FailureHandler
from schedmate_records import Component, ErrorType

from .jobs import PROGRESS, run
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
        ("Usage of EmptyDir volume \"scratch\" exceeds the limit \"10Gi\".", INFRASTRUCTURE, "storage", False),
        ("libibverbs: ibv_reg_mr failed, raise the memlock limit", INFRASTRUCTURE, "node", False),
        ("/bin/bash: line 1: ibv_devinfo: command not found", USER, "none", False),
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
