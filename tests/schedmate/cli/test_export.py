"""`schedmate export` as a person starts it."""

from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from schedmate.cli import app
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.conftest import Embedded, embedded
from tests.sinks.made import metric

__all__ = ["embedded"]


@pytest.fixture
def history(embedded: Embedded) -> Embedded:
    ClickHouseWriter(embedded.connect).write([metric(step, loss=3 - step / 10) for step in range(5)])
    return embedded


def export(history: Embedded, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["--set", f"clickhouse.url={history.url}", "export", *arguments])


def test_an_event_file_for_tensorboard(history: Embedded, tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX", reason="pip install '.[export]'")
    done = export(history, "tensorboard", "4711", str(tmp_path))
    assert done.exit_code == 0, done.output
    assert done.output.startswith("15 values of job 4711, attempt 0, in ")
    assert len(list(tmp_path.glob("events.out.tfevents.*"))) == 1


def test_a_run_for_mlflow(history: Embedded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # the store that needs no server
    mlflow = pytest.importorskip("mlflow", reason="pip install '.[export]'")
    done = export(history, "mlflow", "4711", "--to", f"file://{tmp_path}", "--experiment", "mine")
    assert done.exit_code == 0, done.output
    client = mlflow.MlflowClient(tracking_uri=f"file://{tmp_path}")
    (run,) = client.search_runs([client.get_experiment_by_name("mine").experiment_id])
    assert run.info.run_id in done.output
    assert run.data.metrics["loss"] == pytest.approx(2.6)


def test_an_attempt_that_is_not_on_record(history: Embedded, tmp_path: Path) -> None:
    done = export(history, "tensorboard", "4711", str(tmp_path), "--attempt", "3")
    assert done.exit_code != 0
    assert not list(tmp_path.iterdir())
