"""The topics: names, types of records and message keys."""

from dataclasses import dataclass

from .alarm import Alarm
from .base import Record
from .checkpoint import Checkpoint
from .dead_letter import DeadLetter
from .decision import Decision
from .decision_result import DecisionResult
from .estimate import Estimate
from .failure import Failure
from .feedback import Feedback
from .gpu_activity import GpuActivity
from .gpu_sample import GpuSample
from .job_event import PRODUCER_EVENTS, JobEvent
from .job_metric import JobMetric
from .known_format import KnownFormat
from .log_chunk import LogChunk, NodeLogChunk
from .model_answer import ModelAnswer
from .model_question import ModelQuestion
from .node_finding import NodeFinding
from .operator_command import OperatorCommand
from .placement import Placement
from .quota import Quota
from .slowdown import Slowdown
from .start_estimate import StartEstimate


@dataclass(frozen=True)
class Topic:
    """A topic's name, the type of its records and the field or property that keys them."""

    name: str
    record: type[Record]
    key: str
    about: str

    def key_of(self, record: Record) -> bytes:
        """Return the message key of `record`: the value of `key`."""
        return str(getattr(record, self.key)).encode()


TOPICS: tuple[Topic, ...] = (
    Topic("job-logs", LogChunk, "job", "Chunks of lines that jobs print."),
    Topic("gpu-metrics", GpuSample, "node", "NVML samples, one GPU each."),
    Topic("node-logs", NodeLogChunk, "node", "Chunks of lines of nodes' kernel and system logs."),
    Topic("job-events", JobEvent, "job", "What schedulers did with jobs."),
    Topic("pipe-events", JobEvent, "job", "What pipes report about their own jobs: start, end, lines given up."),
    Topic("placements", Placement, "node", "Which attempts of jobs are on which nodes."),
    Topic("node-findings", NodeFinding, "job", "What nodes' logs and GPUs show, for the jobs that ran there then."),
    Topic(
        "gpu-activity", GpuActivity, "job", "What the GPUs that jobs hold do: they work, wait in a kernel, are idle."
    ),
    Topic("model-questions", ModelQuestion, "key", "What language models are asked about jobs and log formats."),
    Topic("model-answers", ModelAnswer, "job", "What language models answered about jobs."),
    Topic("formats", KnownFormat, "fingerprint", "What the lines of log formats mean, by models and people."),
    Topic("job-metrics", JobMetric, "job", "Step, step time, throughput and loss of running jobs."),
    Topic("failures", Failure, "job", "Why jobs fail, line by line."),
    Topic("slowdowns", Slowdown, "job", "Jobs that run slower since another was packed with them."),
    Topic(
        "alarms",
        Alarm,
        "job",
        "What goes wrong with running jobs: hangs, idle GPUs, losses that are no numbers, stragglers.",
    ),
    Topic("checkpoints", Checkpoint, "job", "Checkpoints that jobs save: begun, durable, failed."),
    Topic("estimates", Estimate, "job", "What jobs will probably take."),
    Topic("start-estimates", StartEstimate, "job", "When jobs that wait will probably start."),
    Topic("quotas", Quota, "cluster", "How many GPUs spot jobs may have, and what high-priority jobs will want."),
    Topic("decisions", Decision, "target", "What the scheduler should do."),
    Topic("decision-results", DecisionResult, "target", "What became of each decision."),
    Topic("approvals", OperatorCommand, "job", "People's commands to the bridges: approve, reject, stop, resume."),
    Topic("feedback", Feedback, "job", "People's corrections and comments on verdicts."),
    Topic("dead-letters", DeadLetter, "topic", "What could not be read, whole, with the reason."),
)

BY_NAME: dict[str, Topic] = {topic.name: topic for topic in TOPICS}
BY_RECORD: dict[type[Record], Topic] = {topic.record: topic for topic in reversed(TOPICS)}
"""The topic of each type; the first where two topics hold one type."""


def topic_of(record: Record) -> Topic:
    """Return the topic that `record` is written to. Reports of log producers have a topic of their own, to which every user may write."""
    if isinstance(record, JobEvent) and record.kind in PRODUCER_EVENTS.get(record.scheduler, ()):
        return BY_NAME["pipe-events"]
    return BY_RECORD[type(record)]
