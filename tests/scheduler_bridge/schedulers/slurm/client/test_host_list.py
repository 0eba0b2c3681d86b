import resource
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_bridge.schedulers.slurm.client.host_list import LIMIT, expand


def test_host_lists() -> None:
    assert expand("n[1-3,07],login") == ("n1", "n2", "n3", "n07", "login")
    assert expand("r[1-2]n[08-10]") == ("r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10")
    assert expand("gpu-[1-2]-ib.cluster") == ("gpu-1-ib.cluster", "gpu-2-ib.cluster")
    assert expand("[0,2-3]") == ("0", "2", "3")
    assert expand("n[5,1-2,5]") == ("n5", "n1", "n2"), "in Slurm's order, each once"


def test_brackets_may_follow_each_other() -> None:
    assert expand("tux[0-3][0-3]") == tuple(f"tux{row}{column}" for row in range(4) for column in range(4))
    assert expand("a[1-2][08-09]b[3]-ib,c[0-1][5]") == (
        *("a108b3-ib", "a109b3-ib", "a208b3-ib", "a209b3-ib"),
        *("c05", "c15"),
    )
    assert expand("") == ()


@pytest.mark.parametrize(
    "text",
    [
        "n[1-999999999]",
        "n[0-999999999]",
        "n[0-9][0-9][0-9][0-9][0-9]",
        "n[1-2]" + "[0-1]" * 500,
        "n[1-999999999999999999999999]",
        f"n[1-{LIMIT}],m",
        "n[1-9999]m[1-9999]",
        ",".join(["n[1-9999]"] * 999),
        "n[1-2]" * 100_000,
        "n[-400000000-400000000]",
        "n[" + "1-9," * 50_000 + "1]",
        "n[3-1]",
        "n[1-2",
        "n1!n2",
        "@group",
        "n1,,n2",
        "n[1-2-3]",
        "n" + "1" * 10_000,
    ],
)
def test_what_is_no_list_or_too_long_stands_for_itself_at_once(text: str) -> None:
    memory, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    assert expand(text) == (text,)
    assert time.process_time() - began < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 100_000


@given(st.text(alphabet="n0129[]-,.a"))
def test_anything_can_come(text: str) -> None:
    assert len(expand(text)) <= LIMIT


@given(st.lists(st.integers(0, 50), min_size=1, max_size=5, unique=True))
def test_lists_of_numbers_stand_for_their_hosts(numbers: list[int]) -> None:
    assert set(expand(f"n[{','.join(map(str, numbers))}]")) == {f"n{number}" for number in numbers}
