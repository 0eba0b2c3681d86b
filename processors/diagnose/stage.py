"""The failure diagnosis of a job: a verdict from its lines and its end, weighed against its nodes' findings and a model's opinion.

A verdict states how far the training had come, so that a restart that gains nothing shows.
"""

from collections.abc import Sequence
from typing import Self

import msgspec

from schedmate_records import EventKind, Failure, JobEvent, JobMetric, ModelAnswer, NodeFinding, Position, Record

from ..classified_chunk import ClassifiedChunk
from ..stage import Stage, StageSettings
from .ending import Ending
from .failure_question import ModelOpinions, OpinionState, Table
from .handler import FailureHandler, HandlerState
from .nodes import NodeEvidence, NodeEvidenceState


class ReachedState(msgspec.Struct):
    """State of an attempt.

    A counter that falls back, or is at its end twice, begins anew with each epoch, was rolled back, or is another one than before. Its
    values cannot be compared with those of another attempt then, and are not reported for the rest of this one.

    Attributes:
        rank: The rank whose counters count: the first that reports a step.
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
    """State of an attempt.

    Attributes:
        handler: By what reads its lines.
        nodes: State of the evidence of its nodes.
        opinions: Of questions to a language model, and of its answers.
        reached: How far its training has come.
    """

    handler: HandlerState = msgspec.field(default_factory=HandlerState)
    nodes: NodeEvidenceState = msgspec.field(default_factory=NodeEvidenceState)
    opinions: OpinionState = msgspec.field(default_factory=OpinionState)
    reached: ReachedState = msgspec.field(default_factory=ReachedState)


class Diagnosis(Stage[DiagnosisState]):
    """Returns a verdict as soon as a line explains a failure, and again when better evidence comes.

    Args:
        handler: Reads lines and ends; with the catalogue that ships where not given.
        ask_models: Whether language models are asked about attempts that failed.
        table: Who decides where rules and model disagree; the table that ships where not given.
    """

    name = "diagnosis"
    state = DiagnosisState
    order = 70
    inputs = ("model-answers", "node-findings")

    def __init__(
        self, handler: FailureHandler | None = None, *, ask_models: bool = False, table: Table | None = None
    ) -> None:
        self.handler = handler or FailureHandler()
        self.node_evidence = NodeEvidence(self.handler.signatures)
        self.opinions = ModelOpinions(self.handler, table)
        self.ask_models = ask_models

    @classmethod
    def from_settings(cls, settings: StageSettings) -> Self:
        """Return the diagnosis with the operator's signatures and table."""
        handler = FailureHandler(settings.signatures)
        return cls(handler, ask_models=settings.processors.ask_models, table=settings.failure_table)

    def metric_groups(self) -> Sequence[object]:
        """Return the metrics of what it is made of, a group for each part."""
        return (self.handler.metrics, self.node_evidence.metrics, self.opinions.metrics)

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
        state.opinions.ending = ending
        return self._weighed(self.handler.conclude(ending, state.handler), state, ended=True)

    def on_reopened(
        self, job: str, attempt: int, time: float, position: Position, state: DiagnosisState
    ) -> list[Record]:
        """Return what replaces a final verdict: the verdict on the lines so far, or its retraction."""
        state.opinions.ending = None
        return self._weighed(self.handler.reopen(job, attempt, time, state.handler), state)

    def on_finding(self, finding: NodeFinding, position: Position, state: DiagnosisState) -> list[Record]:
        """Return the verdict that a node's finding changes."""
        return self._with_opinions(_revision(self.node_evidence.on_finding(finding, state.nodes), state), state)

    def on_answer(self, answer: ModelAnswer, position: Position, state: DiagnosisState) -> list[Failure]:
        """Return the verdict that a language model's answer changes."""
        return [*map(state.reached.stated_in, self.opinions.on_answer(answer, state.opinions, state.handler))]

    def _weighed(self, verdicts: Sequence[Failure], state: DiagnosisState, *, ended: bool = False) -> list[Record]:
        """Return the verdicts. The last is replaced by what the nodes make of it, so that no decision rests on the one before."""
        if not verdicts:
            return self._with_opinions([], state, ended=ended)
        weighed = _revision(self.node_evidence.on_verdicts(verdicts, state.nodes), state)
        return self._with_opinions([*verdicts[:-1], *weighed] if weighed else verdicts, state, ended=ended)

    def _with_opinions(
        self, verdicts: Sequence[Failure], state: DiagnosisState, *, ended: bool = False
    ) -> list[Record]:
        """Return new verdicts, those that follow from answers that are known already, and the question that is due."""
        if not verdicts and not ended:
            return []
        combined = self.opinions.on_verdicts(verdicts, state.opinions, state.handler)
        made: list[Record] = [*map(state.reached.stated_in, [*verdicts, *combined])]
        question = None
        if self.ask_models:
            question = self.opinions.question(state.opinions, state.handler, state.nodes.findings)
        return [*made, question] if question else made


def _revision(verdict: Failure | None, state: DiagnosisState) -> list[Failure]:
    """Return the verdict that nodes changed, if any, as the next revision."""
    if verdict is None:
        return []
    state.handler.revision += 1
    return [msgspec.structs.replace(verdict, revision=state.handler.revision)]
