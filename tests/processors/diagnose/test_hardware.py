"""Which of several words of drivers, kernels and daemons is the root, and when many small ones are one."""

import pytest

from processors.diagnose import FailureHandler
from schedmate_records import Component, ErrorType, Failure

from .jobs import run

INFRASTRUCTURE, USER = ErrorType.INFRASTRUCTURE, ErrorType.USER_SCRIPT


def verdict(handler: FailureHandler, lines: list[str]) -> Failure:
    """Return the verdict on a stored log of `lines`."""
    return run(handler, lines)[0][-1]


def line(failure: Failure) -> int:
    assert failure.root is not None
    return failure.root.line


def xid(number: int, process: int = 0, card: str = "3b", at: int = 90) -> str:
    whose = f"pid={process}, name=python3" if process else "pid='<unknown>', name=<unknown>"
    return f"[ {at}.5] NVRM: Xid (PCI:0000:{card}:00): {number}, {whose}, Ch 00000004"


@pytest.mark.parametrize(
    ("lines", "signature", "root"),
    [
        ([xid(43, 7, "05"), xid(31, 8, "07"), xid(94, card="08")], "xid_ecc_uncorrectable", 3),
        ([xid(31, 7), xid(62), xid(45), xid(45)], "xid_gsp", 2),
        ([xid(79), xid(31, 7), xid(45, 7)], "xid_fallen_off_bus", 1),
        ([xid(13, 7), xid(45, 7)], "xid_program_fault", 1),
        (["[ 80.1] tool[12]: segfault at 10 ip 0000aa sp 0000bb error 4", xid(48)], "xid_ecc_uncorrectable", 2),
    ],
)
def test_a_word_of_the_hardware_says_more_than_a_refused_access(
    handler: FailureHandler, lines: list[str], signature: str, root: int
) -> None:
    found = verdict(handler, lines)
    assert (found.signature, line(found)) == (signature, root)


def test_whoever_killed_the_workers_explains_that_the_trials_failed(handler: FailureHandler) -> None:
    told = [
        "ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.",
        "ray.tune.error.TuneError: ('Trials did not complete', [train_a1])",
    ]
    killed = "slurmstepd: error: Detected 3 oom-kill event(s) in StepId=17.batch cgroup."
    assert (line(verdict(handler, [*told, killed])), verdict(handler, [*told, killed]).signature) == (3, "cgroup_oom")


def test_a_store_that_was_not_reached_within_the_time_limit(handler: FailureHandler) -> None:
    told = "[E9 10:11:12.1 socket.cpp:10] [c10d] The client socket has timed out after {}ms while trying to connect to (n1, 29500)."
    again = "[W9 10:11:12.1 TCPStore.cpp:3] [c10d] TCP client failed to connect to host n1:29500 - retrying (try=0, timeout={}ms)"
    in_vain = verdict(handler, ["starting", *(f"(Worker pid=42) {one.format(900000)}" for one in (told, again))])
    assert (in_vain.error_type, in_vain.faulty_component, line(in_vain)) == (INFRASTRUCTURE, Component.NETWORK, 2)
    assert run(handler, ["starting", told.format(30000), again.format(30000)])[0] == []


def test_the_device_says_more_than_the_collective(handler: FailureHandler) -> None:
    found = verdict(
        handler,
        [
            "EI9999: Inner Error!",
            "        The error from device(chipId:1, dieId:0), serial number is 3. there is a sdma error, sdma channel is 4",
        ],
    )
    assert (found.faulty_component, line(found)) == (Component.GPU, 2)
