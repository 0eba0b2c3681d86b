"""What a check of a node says, in one line."""

import pytest

from scheduler_bridge.node_check import NodeCheck


@pytest.mark.parametrize(
    ("exit_code", "output", "passed", "detail"),
    [
        (0, "fine\n", True, "the check passed: fine"),
        (3, "much\nGPU 2 is lost\n\n", False, "the check failed (exit code 3): GPU 2 is lost"),
        (1, "", False, "the check failed (exit code 1)"),
        (None, "nodes are busy\nmore", None, "the node could not be checked: nodes are busy"),
        (1, "\x1b[31mred" + "x" * 500, False, "the check failed (exit code 1): [31mred" + "x" * 193),
    ],
)
def test_the_last_line_is_told(exit_code: int | None, output: str, passed: bool | None, detail: str) -> None:
    assert NodeCheck.from_output(exit_code, output) == NodeCheck(passed, detail, output)
