import pytest

from processors.diagnose import FailureHandler
from processors.diagnose.memory import held_by_others
from schedmate_records import ErrorType

from .jobs import BUG, PROGRESS, run

OLD = (
    "CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 24.00 GiB total capacity; {own} GiB already allocated; "
    "100.00 MiB free; {own} GiB reserved in total by PyTorch)"
)
NEW = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 1.00 GiB is free. "
    "Including non-PyTorch memory, this process has {own} GiB memory in use."
)


@pytest.mark.parametrize(
    ("form", "own", "others"), [(OLD, "3.00", True), (OLD, "23.50", False), (NEW, "3.00", True), (NEW, "78.00", False)]
)
def test_who_holds_the_memory(form: str, own: str, others: bool) -> None:
    assert held_by_others(form.format(own=own)) is others


def test_a_driver_that_does_not_know_the_process() -> None:
    mine = " Of the allocated memory {own} GiB is allocated by PyTorch, and 0.20 GiB is reserved by PyTorch but unallocated."
    assert not held_by_others(NEW.format(own="0.00") + mine.format(own="77.50"))
    assert held_by_others(NEW.format(own="0.00") + mine.format(own="3.00"))


def test_messages_without_numbers_say_nothing() -> None:
    assert not held_by_others("CUDA out of memory.")
    assert not held_by_others("Tried to allocate 1.00 GiB of which 9999999999.99 GiB is free")


@pytest.mark.parametrize(("own", "kind"), [("3.00", ErrorType.INFRASTRUCTURE), ("78.00", ErrorType.USER_SCRIPT)])
def test_the_verdict_follows(handler: FailureHandler, own: str, kind: ErrorType) -> None:
    lines = [*PROGRESS, *BUG[:-1], "torch.OutOfMemoryError: " + NEW.format(own=own)]
    assert run(handler, lines)[0][-1].error_type is kind
