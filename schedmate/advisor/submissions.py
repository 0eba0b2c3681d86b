"""Job events in, an estimate for each submission out; jobs that end become history."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from processors.advise.past import MemoryHistory, PastEstimator, PastJob
from processors.advise.past.estimator import UNKNOWN
from processors.advise.predictors.estimate import PREDICTOR, Interval
from schedmate_records import ANSWERED, Estimate, EventKind, JobEvent, Position, Record, derived_id

from .drift import Drift, outcome
from .history_file import HistoryFile
from .job_views import completion, submission, submitted_job
from .live_model import LiveModel
from .metrics import AdvisorMetrics
from .utilisation import Utilisation


class SubmissionAdvisor:
    """Answers submissions. The estimate is stored with the event, so that a replay gives the same, and after it was acknowledged.

    Args:
        store: What lasts.
        publish: Returns once an estimate is acknowledged.
        model: Points to the trained model that answers where no past job is similar; it may be absent.
        history: The past jobs of `store`; all in memory where not given.
        utilisation: What was seen of the GPUs of running jobs.
    """

    def __init__(
        self,
        store: HistoryFile,
        publish: Callable[[Sequence[Estimate]], None],
        model: Path,
        history: MemoryHistory | None = None,
        utilisation: Utilisation | None = None,
    ) -> None:
        self._store, self._publish = store, publish
        self.metrics = AdvisorMetrics()
        self._history = store.load() if history is None else history
        self._estimator = PastEstimator(self._history)
        self._model = LiveModel(model, store, self.metrics)
        self._drift = Drift(self.metrics)
        self._utilisation = utilisation or Utilisation()
        self._seen = 0

    def handle(self, batch: Sequence[tuple[Position, Record]]) -> None:
        """Take in events; returns once what follows from them lasts."""
        self._model.refresh()
        made: list[Estimate] = []
        for position, record in batch:
            if isinstance(record, JobEvent) and not record.by_producer:
                made += self._estimates_of(position, record)
                self._seen += 1
                if self._seen % 10_000 == 0:
                    self._store.forget(record.time)
        self._publish(made)
        self._store.commit()

    def _estimates_of(self, position: Position, event: JobEvent) -> list[Estimate]:
        name = f"{event.job}/{event.attempt}"
        match event.kind:
            case EventKind.SUBMITTED:
                return [self._submitted(name, position, event)]
            case EventKind.DESCRIBED:
                return self._described(name, position, event)
            case EventKind.REQUEUED:
                self._requeued(name, event)
            case EventKind.STARTED:
                self._store.open(name, event)
                if predictor := self._model.predictor:
                    predictor.start(event.job, event.time)
            case EventKind.ENDED:
                self._ended(name, event)
            case _:
                pass
        return []

    def _submitted(self, name: str, position: Position, event: JobEvent) -> Estimate:
        known = self._store.estimate_at(event.id)
        if known is not None:
            return known
        estimate = self._estimate(derived_id("estimate", event.job, position), event)
        if predictor := self._model.predictor:
            low, high = estimate.duration_low_s or 0.0, estimate.duration_high_s
            given = Interval(low, high) if estimate.method == PREDICTOR and high is not None else None
            predictor.submit(submission(submitted_job(event)), given)
        self._store.record_estimate(event.id, estimate)
        self._store.submit(name, event)
        self.metrics.estimates.labels(estimate.method).inc()
        return estimate

    def _described(self, name: str, position: Position, event: JobEvent) -> list[Estimate]:
        """Send the estimate that the submission would have had, had it been known then; none for an attempt that is over."""
        if (known := self._store.estimate_at(event.id)) is not None:
            return [known]
        submitted = self._store.submitted(name)
        if submitted is None or event.workload is None:
            return []
        whole = msgspec.structs.replace(submitted, workload=event.workload)
        predictor, job = self._model.predictor, submission(submitted_job(whole))
        if predictor:  # it must not see the job among those that wait or run before it
            predictor.withdraw(job)
        estimate = self._estimate(derived_id("estimate", event.job, position, ANSWERED), whole)
        estimate = msgspec.structs.replace(estimate, revision=ANSWERED, time=event.time)
        if predictor:
            predictor.submit(job)
        if self._store.opened(name) is None:  # the last estimate before the start is scored
            whole = msgspec.structs.replace(whole, id=event.id)
        self._store.record_estimate(event.id, estimate)
        self._store.submit(name, whole)
        self.metrics.completed.inc()
        return [estimate]

    def _estimate(self, identity: str, event: JobEvent) -> Estimate:
        """Return the estimate of a submission; nothing is remembered."""
        about = submitted_job(event)
        found = self._estimator.estimate(about)
        estimate = Estimate(
            id=identity,
            job=event.job,
            attempt=event.attempt,
            incarnation=event.incarnation,
            time=event.time,
            duration_s=found.duration_s,
            duration_low_s=found.low_s,
            duration_high_s=found.high_s,
            modes=list(found.modes),
            gpu_utilisation=found.gpu_utilisation,
            similar_jobs=list(found.jobs),
            method=found.method,
        )
        predictor = self._model.predictor
        if predictor is None or found.method != UNKNOWN:
            return estimate
        predicted = predictor.estimate(submission(about))
        return Estimate(
            id=estimate.id,
            job=event.job,
            attempt=event.attempt,
            incarnation=event.incarnation,
            time=event.time,
            duration_s=predicted.median,
            duration_low_s=predicted.low,
            duration_high_s=predicted.high,
            modes=list(predicted.modes),
            similar_jobs=list(predicted.rests_on),
            method=PREDICTOR,
            model=predictor.version,
        )

    def _requeued(self, name: str, event: JobEvent) -> None:
        """The attempt before is over, and was no whole run."""
        before = f"{event.job}/{event.attempt - 1}"
        if event.workload is None and (submitted := self._store.submitted(before)):
            event = msgspec.structs.replace(event, workload=submitted.workload, branch=submitted.branch)
        self._store.close(before)
        self._utilisation.finish(event.job)
        self._store.submit(name, event)
        if predictor := self._model.predictor:
            predictor.submit(submission(submitted_job(event)))

    def _ended(self, name: str, event: JobEvent) -> None:
        submitted, start = self._store.submitted(name), self._store.opened(name)
        self._store.close(name)
        used = self._utilisation.finish(event.job)
        if start is None or event.time < start.time:
            if submitted and (predictor := self._model.predictor):
                predictor.withdraw(submission(submitted_job(submitted)))
            return
        about = submitted_job(submitted or (event if event.command else start))
        if submitted is None:
            about = msgspec.structs.replace(about, submitted=start.time, gpus=start.gpus or 0.0)
        well = event.state == "COMPLETED" or (event.exit_code == 0 and not event.signal)
        took_s = event.time - start.time
        past = PastJob(about=about, ended=event.time, duration_s=took_s, completed=well, gpu_utilisation=used)
        if not self._store.add(name, past):
            return
        self._history.add(past)
        if predictor := self._model.predictor:
            predictor.complete(completion(past))
        if submitted and well:
            self._score(submitted, past.duration_s)

    def _score(self, submitted: JobEvent, took_s: float) -> None:
        estimate = self._store.estimate_at(submitted.id)
        found = outcome(estimate, took_s) if estimate else None
        if estimate is None or found is None:
            return
        self.metrics.scored.labels(estimate.method).inc()
        if found.inside:
            self.metrics.inside.labels(estimate.method).inc()
        predictor = self._model.predictor
        if predictor and estimate.model == predictor.version:
            self._drift.add_outcome(predictor.version, predictor.usual_error, found)
