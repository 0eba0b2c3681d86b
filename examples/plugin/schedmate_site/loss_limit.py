"""A stage that raises an alarm when the loss of a job passes a limit."""

from collections.abc import Sequence
from typing import Self

import msgspec
from prometheus_client import Counter
from pydantic import BaseModel, Field, PositiveFloat

from processors.stage import Stage, StageSettings
from schedmate_records import Alarm, AlarmKind, JobMetric, Position, derived_id


class LossLimitSettings(BaseModel, frozen=True, extra="forbid"):
    """The section `loss_limit`."""

    largest_loss: PositiveFloat = Field(1e6, description="A job whose loss is larger raises an alarm.")


class LossLimitState(msgspec.Struct):
    """State of one attempt.

    Attributes:
        raised: Whether the alarm was raised.
    """

    raised: bool = False


class LossLimitMetrics:
    """Metrics of the stage."""

    def __init__(self) -> None:
        self.raised = Counter("schedmate_loss_limit_raised", "Losses above the limit.", registry=None)


class LossLimit(Stage[LossLimitState]):
    """Raises one alarm in an attempt.

    Args:
        limit: The largest loss that raises none.
    """

    name = "loss_limit"
    state = LossLimitState
    settings = LossLimitSettings

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.metrics = LossLimitMetrics()

    @classmethod
    def from_settings(cls, settings: StageSettings) -> Self:
        """Return the stage with the limit of its section."""
        return cls(settings.section.largest_loss)

    def metric_groups(self) -> Sequence[object]:
        """Return its metrics."""
        return [self.metrics]

    def on_metric(self, metric: JobMetric, position: Position, state: LossLimitState) -> list[Alarm]:
        """Return the alarm, where the loss is too large for the first time."""
        if state.raised or metric.loss is None or metric.loss <= self.limit:
            return []
        state.raised = True
        self.metrics.raised.inc()
        alarm = Alarm(
            id=derived_id("loss_limit", metric.job, position),
            job=metric.job,
            attempt=metric.attempt,
            node=metric.node,
            rank=metric.rank,
            kind=AlarmKind.LOSS_SPIKE,
            raised=True,
            time=metric.time,
            since=metric.time,
            value=metric.loss,
            limit=self.limit,
            detail=f"The loss is {metric.loss:g}, above {self.limit:g}.",
            evidence=metric.evidence[:1],
        )
        return [alarm]
