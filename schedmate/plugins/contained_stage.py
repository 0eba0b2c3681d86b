"""Keeps the errors of a stage of another distribution away from the stream."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import msgspec
import structlog
from prometheus_client import Counter

from processors.stage import AnyStage, Stage, StageInput
from schedmate_records import BY_RECORD, Position, Record, topic_of
from streams.rights import ROLES

log = structlog.get_logger(__name__)

MOST_RECORDS = 1000
"""Limit for the results of one call; a chunk has 500 lines."""
STATE_BYTES = 65_536
"""Limit for the state of an attempt, in bytes of JSON. All states of a job share one message of 1 MB."""


class ContainedStageMetrics:
    """Errors of the stages of other distributions, by their names."""

    def __init__(self, stages: Iterable[str] = ()) -> None:
        self.errors = Counter(
            "schedmate_plugin_stage_errors",
            "Calls of a stage of another distribution that failed; their results are left out.",
            ["stage"],
            registry=None,
        )
        for stage in stages:
            self.errors.labels(stage)


class ContainedStage(Stage[msgspec.Struct]):
    """Calls a stage. An error leads to a log entry, a count and no results; a state that cannot be stored begins anew.

    Args:
        stage: The stage.
        metrics: Counts the errors of all such stages.
    """

    def __init__(self, stage: AnyStage, metrics: ContainedStageMetrics) -> None:
        self.stage, self.state = stage, stage.state
        vars(self).update(name=stage.name, inputs=stage.inputs, order=stage.order)
        self.metrics = metrics
        metrics.errors.labels(stage.name)
        self._is_logged = False

    def metric_groups(self) -> Sequence[object]:
        """Return the count of errors, and the metrics of the stage."""
        groups: list[object] = [self.metrics]
        with self._errors_noted("metric_groups"):
            groups += self.stage.metric_groups()
        return groups

    def dispatch(self, record: StageInput | Record, position: Position, state: msgspec.Struct) -> list[Record]:
        """Return the results of `record`."""
        return self._call(self.stage.dispatch, state, record, position)

    def on_superseded(
        self, job: str, attempt: int, time: float, position: Position, state: msgspec.Struct
    ) -> list[Record]:
        """Return the results of the begin of a newer attempt."""
        return self._call(self.stage.on_superseded, state, job, attempt, time, position)

    def on_reopened(
        self, job: str, attempt: int, time: float, position: Position, state: msgspec.Struct
    ) -> list[Record]:
        """Return the results of an ended attempt that goes on."""
        return self._call(self.stage.on_reopened, state, job, attempt, time, position)

    def on_begun(self, state: msgspec.Struct, former: msgspec.Struct) -> None:
        """Let the stage take over the state of the former attempt."""

        def take_over(own: msgspec.Struct) -> Sequence[Record]:
            self.stage.on_begun(own, former)
            return ()

        self._call(take_over, state)

    def _call(self, method: Callable[..., Iterable[Record]], state: msgspec.Struct, *arguments: object) -> list[Record]:
        made: list[Record] = []
        with self._errors_noted(method.__name__):
            results = list(islice(method(*arguments, state), MOST_RECORDS + 1))
            _check_results(results)
            made = results
        fits = False
        with self._errors_noted("state"):
            size = len(msgspec.json.encode(state))
            if size > STATE_BYTES:
                raise ValueError(f"expected a state of at most {STATE_BYTES} bytes, got {size}")
            fits = True
        if not fits:
            _reset(state)
        return made

    @contextmanager
    def _errors_noted(self, call: str) -> Iterator[None]:
        """Count errors, and log the first: it may happen at every line."""
        try:
            yield
        except Exception:
            self.metrics.errors.labels(self.name).inc()
            if not self._is_logged:
                self._is_logged = True
                log.exception("stage_failed", stage=self.name, call=call, then="the call has no results")


def _check_results(made: Sequence[Any]) -> None:
    """Raise `TypeError` for results that a worker may not write."""
    if len(made) > MOST_RECORDS:
        raise ValueError(f"expected at most {MOST_RECORDS} results of one call, got more")
    writable = ROLES["worker"].writes
    for each in made:
        if type(each) not in BY_RECORD or topic_of(each).name not in writable:
            raise TypeError(f"expected a record for one of {', '.join(writable)}, got {type(each).__name__}")
        msgspec.json.encode(each)


def _reset(state: msgspec.Struct) -> None:
    fresh = type(state)()
    for field in state.__struct_fields__:
        setattr(state, field, getattr(fresh, field))
