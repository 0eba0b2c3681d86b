"""A job's numbers in TensorBoard's and MLflow's own forms."""

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedmate.exports import Series, read_series
from schedmate.exports.series import NothingKnown
from schedmate_records import JobMetric, Position
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded"]

NOW = 1_790_000_000.0


def metric(attempt: int, rank: int, step: int | None, loss: float | None, at: float) -> JobMetric:
    return JobMetric(
        id=f"7/{attempt}/{rank}/{at}", job="7", attempt=attempt, rank=rank, time=NOW + at, step=step, loss=loss,
        step_time_s=0.5, confidence=0.9, method="stated",
    )  # fmt: skip


@pytest.fixture
def written(embedded: Embedded) -> Embedded:
    writer = ClickHouseWriter(embedded.connect)
    made = [
        metric(0, 0, 1, 9.0, 0),
        *(metric(1, 0, step, 3.0 - step / 10, 100 + step) for step in range(5)),
        metric(1, 1, 99, 1.0, 101),
        metric(1, 0, 5, float("nan"), 110),
    ]
    writer.write([(Position("made", 0, place), each) for place, each in enumerate(made)])
    writer.close()
    return embedded


@pytest.fixture
def series(written: Embedded) -> Series:
    return read_series(written.client, "7")


def test_the_lowest_rank_of_the_newest_attempt_speaks(series: Series) -> None:
    assert (series.attempt, series.rank) == (1, 0)
    losses = [(value.step, round(value.value, 3)) for value in series.values() if value.name == "loss"]
    assert losses == [(0, 3.0), (1, 2.9), (2, 2.8), (3, 2.7), (4, 2.6)], "what is no number is left out"


def test_what_is_not_on_record_is_said(written: Embedded) -> None:
    with pytest.raises(NothingKnown, match="of which nothing is on record"):
        read_series(written.client, "8")
    with pytest.raises(NothingKnown, match="got 3"):
        read_series(written.client, "7", attempt=3)


def records_of(file: Path) -> Iterator[bytes]:
    """The records of an event file: length, its checksum, the data, its checksum."""
    data = file.read_bytes()
    place = 0
    while place < len(data):
        (length,) = struct.unpack_from("<Q", data, place)
        yield data[place + 12 : place + 12 + length]
        place += 16 + length


def test_tensorboard_finds_steps_values_and_times(series: Series, tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX", reason="pip install '.[export]'")
    from tensorboardX.proto.event_pb2 import Event

    from schedmate.exports.tensorboard import write_events

    assert write_events(series, tmp_path) == 11
    (file,) = tmp_path.glob("events.out.tfevents.*")
    events = [Event.FromString(record) for record in records_of(file)]
    found = [
        (event.step, round(value.simple_value, 3), event.wall_time)
        for event in events
        for value in event.summary.value
        if value.tag == "loss"
    ]
    assert found == [(step, round(3.0 - step / 10, 3), NOW + 100 + step) for step in range(5)]


def test_mlflow_has_a_run_with_all_its_points(series: Series, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # the store that needs no server
    mlflow = pytest.importorskip("mlflow", reason="pip install '.[export]'")
    from schedmate.exports.mlflow import write_run

    tracking = f"file://{tmp_path}"
    run = write_run(series, tracking)
    client = mlflow.MlflowClient(tracking_uri=tracking)
    points = client.get_metric_history(run, "loss")
    assert sorted((point.step, round(point.value, 3)) for point in points) == [
        (step, round(3.0 - step / 10, 3)) for step in range(5)
    ]
    assert client.get_run(run).data.tags["schedmate.job"] == "7"
    assert client.get_run(run).info.status == "FINISHED"
