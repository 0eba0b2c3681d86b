"""The failure diagnosis of a job: what its own lines and its end say, weighed against what its nodes say, then against a language model.

A verdict says how far the training had come, so that a restart that gains nothing shows.
"""

from collections.abc import Sequence

import msgspec

from schedmate_records import EventKind, Failure, JobEvent, JobMetric, ModelAnswer, NodeFinding, Position, Record

from ..classified_chunk import ClassifiedChunk
from ..stage import Stage
from .ending import Ending
from .handler import FailureHandler, HandlerState
from .nodes import NodeEvidence, NodeEvidenceState
from .review import FailureReviewer, review_question


class ReachedState(msgspec.Struct):
    """What is remembered of an attempt.

    A counter that falls back, or stands at its end twice, begins anew with each epoch, was rolled back, or is another one than before. What
    it says cannot be compared with what it says in another attempt then, and nothing is told for the rest of this one.

    Attributes:
        rank: The rank whose counters count: the first that tells a step.
        step: Its newest step.
        epoch: Its newest epoch.
        began_anew: They cannot be compared.
    """

    rank: int | None = None
    step: int | None = None
    epoch: float | None = None
    began_anew: bool = False

    def on_metric(self, metric: JobMetric) -> None:
        """Take in the counters of a metric."""
        if metric.step is None or self.rank not in (None, metric.rank):
            return
        self.rank = metric.rank
        epoch = self.epoch if metric.epoch is None else metric.epoch
        if self.step is not None:
            before, now = (self.epoch or 0.0, self.step), (epoch or 0.0, metric.step)
            self.began_anew |= now < before or (now == before and metric.step == metric.step_total)
        self.step, self.epoch = metric.step, epoch

    def stated_in(self, failure: Failure) -> Failure:
        """Return `failure` with how far the training had come."""
        if self.step is None or self.began_anew:
            return failure
        return msgspec.structs.replace(failure, step=self.step, epoch=self.epoch)


class DiagnosisState(msgspec.Struct):
    """What is remembered of an attempt.

    Attributes:
        handler: By what reads its lines.
        nodes: Of what its nodes said.
        reached: How far its training has come.
    """

    handler: HandlerState = msgspec.field(default_factory=HandlerState)
    nodes: NodeEvidenceState = msgspec.field(default_factory=NodeEvidenceState)
    reached: ReachedState = msgspec.field(default_factory=ReachedState)


class Diagnosis(Stage[DiagnosisState]):
    """Says why an attempt failed, the moment that a line explains it, and again whenever it knows better.

    Args:
        handler: Reads lines and ends; with the catalogue that ships where not given.
        ask_models: Whether language models are asked for a second look.
    """

    name = "diagnosis"
    inputs = ("model-answers", "node-findings")

    def __init__(self, handler: FailureHandler | None = None, *, ask_models: bool = False) -> None:
        self.handler = handler or FailureHandler()
        self.node_evidence = NodeEvidence(self.handler.signatures)
        self.reviewer = FailureReviewer()
        self.ask_models = ask_models

    def metric_groups(self) -> Sequence[object]:
        """Return the metrics of what it is made of, a group for each part."""
        return (self.handler.metrics, self.node_evidence.metrics, self.reviewer.metrics)

    def on_chunk(self, chunk: ClassifiedChunk, position: Position, state: DiagnosisState) -> list[Record]:
        """Return the verdict that a line makes, or one that retracts it where the job went on."""
        return self._weighed(self.handler.observe(chunk, state.handler), state)

    def on_metric(self, metric: JobMetric, position: Position, state: DiagnosisState) -> list[Record]:
        """Note how far the training has come."""
        state.reached.on_metric(metric)
        return []

    def on_event(self, event: JobEvent, position: Position, state: DiagnosisState) -> list[Record]:
        """Return the final verdict at the end of the attempt."""
        if event.kind is not EventKind.ENDED:
            return []
        ending = Ending(
            job=event.job,
            attempt=event.attempt,
            position=position,
            time=event.time,
            exit_code=event.exit_code,
            signal=event.signal,
            state=event.state,
            nodes=event.nodes,
        )
        return self._weighed(self.handler.conclude(ending, state.handler), state)

    def on_reopened(
        self, job: str, attempt: int, time: float, position: Position, state: DiagnosisState
    ) -> list[Record]:
        """Return what replaces a final verdict: the verdict on the lines so far, or its retraction."""
        return self._weighed(self.handler.reopen(job, attempt, time, state.handler), state)

    def on_finding(self, finding: NodeFinding, position: Position, state: DiagnosisState) -> list[Record]:
        """Return the verdict that a node's finding changes."""
        return self._reviewed(_revision(self.node_evidence.on_finding(finding, state.nodes), state), state)

    def on_answer(self, answer: ModelAnswer, position: Position, state: DiagnosisState) -> list[Failure]:
        """Return the verdict that a language model's answer changes."""
        return [*map(state.reached.stated_in, self.reviewer.on_answer(answer, position, state.handler))]

    def _weighed(self, verdicts: Sequence[Failure], state: DiagnosisState) -> list[Record]:
        """Return the verdicts. What the nodes make of the last takes its place: one that is not in force would undo a decision."""
        if not verdicts:
            return []
        weighed = _revision(self.node_evidence.on_verdicts(verdicts, state.nodes), state)
        return self._reviewed([*verdicts[:-1], *weighed] if weighed else verdicts, state)

    def _reviewed(self, verdicts: Sequence[Failure], state: DiagnosisState) -> list[Record]:
        """Return the verdicts, what models answered already, and the question for a second look at the last."""
        question = review_question(verdicts[-1]) if verdicts and self.ask_models else None
        reviewed: list[Record] = [*map(state.reached.stated_in, self.reviewer.on_verdicts(verdicts, state.handler))]
        return [*reviewed, question] if question else reviewed


def _revision(verdict: Failure | None, state: DiagnosisState) -> list[Failure]:
    """Return the verdict that nodes changed, if any, as the next revision."""
    if verdict is None:
        return []
    state.handler.revision += 1
    return [msgspec.structs.replace(verdict, revision=state.handler.revision)]
