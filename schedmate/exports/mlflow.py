"""A run of MLflow."""

from itertools import islice

from mlflow import MlflowClient
from mlflow.entities import Metric
from mlflow.exceptions import MlflowException

from schedmate_records import UserError

from .series import Series

_SHOWN = {"loss": "loss", "step time (s)": "step_time_s", "throughput": "throughput"}


class MlflowRefused(UserError):
    """The tracking server is away, or refuses."""


def write_run(series: Series, tracking: str, experiment: str = "schedmate") -> str:
    """Write `series` as a run of `experiment`, and return the run's id.

    Args:
        series: What is written.
        tracking: The tracking server's address, such as `http://mlflow:5000`.
        experiment: It is made where it is missing.

    Raises:
        MlflowRefused: The server is away, or refuses.
    """
    try:
        client = MlflowClient(tracking_uri=tracking)
        found = client.get_experiment_by_name(experiment)
        parent = found.experiment_id if found else client.create_experiment(experiment)
        tags = {
            "schedmate.job": series.job,
            "schedmate.attempt": str(series.attempt),
            "schedmate.rank": str(series.rank),
        }
        run: str = client.create_run(parent, run_name=f"{series.job}/{series.attempt}", tags=tags).info.run_id
        metrics = (Metric(_SHOWN[each.name], each.value, int(each.at * 1000), each.step) for each in series.values())
        # Metrics a request; MLflow takes no more.
        while batch := list(islice(metrics, 1000)):
            client.log_batch(run, metrics=batch)
        client.set_terminated(run)
    except (MlflowException, OSError) as error:
        raise MlflowRefused(
            f"expected an MLflow tracking server that takes a run at {tracking}, got: {error}"
        ) from error
    return run
