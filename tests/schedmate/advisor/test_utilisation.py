"""How hard jobs were on their GPUs."""

from collections.abc import Sequence
from threading import Event

import pytest

from schedmate.advisor.utilisation import FEWEST, SampleReader, Utilisation
from schedmate_records import GpuProcess, GpuSample, Position, encode
from streams.transport import Message, TransportError


def sample(utilisation: int | None, *jobs: str | None, error: str = "", gpu: int = 0) -> GpuSample:
    processes = [GpuProcess(pid=number, job=job) for number, job in enumerate(jobs)]
    return GpuSample(
        id=f"g{gpu}", node="n1", gpu=gpu, time=1.0, utilisation=utilisation, processes=processes, error=error
    )


def test_the_mean_over_gpus_and_time_is_told_once() -> None:
    used = Utilisation()
    for percent, gpu in ((100, 0), (80, 1), (90, 0), (50, 1)):
        used.add_sample(sample(percent, "1", "1", gpu=gpu))
    assert used.finish("1") == 80
    assert used.finish("1") is None


@pytest.mark.parametrize(
    "said", [sample(90), sample(90, "1", "2"), sample(90, "1", None), sample(None, "1"), sample(90, "1", error="lost")]
)
def test_what_says_nothing_of_one_job_counts_for_none(said: GpuSample) -> None:
    used = Utilisation()
    for _ in range(FEWEST):
        used.add_sample(said)
    assert (used.finish("1"), used.finish("2")) == (None, None)


def test_few_samples_say_nothing() -> None:
    used = Utilisation()
    for _ in range(FEWEST - 1):
        used.add_sample(sample(90, "1"))
    assert used.finish("1") is None


def test_the_reader_outlives_an_outage_and_what_is_no_sample() -> None:
    stop, taken = Event(), list[GpuSample]()

    class Topic:
        def __init__(self) -> None:
            self.looks = 0

        def new(self) -> Sequence[Message]:
            self.looks += 1
            if self.looks == 1:
                raise TransportError("away")
            return [message(b"nonsense"), message(encode(sample(90, "1")))]

        def close(self) -> None: ...

    def message(value: bytes) -> Message:
        return Message(Position("gpu-metrics", 0, 0), b"n1", value, 1.0)

    def take(one: GpuSample) -> None:
        taken.append(one)
        stop.set()

    reader = SampleReader(Topic, take, stop, look_s=0.01)
    reader.start()
    reader.join(60)
    assert [each.utilisation for each in taken] == [90]
