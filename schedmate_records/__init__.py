"""Typed records that move between the packages, and their ids. It imports no other package of SchedMate."""

from .alarm import Alarm, AlarmKind
from .base import VERSION, Evidence, Position, Record
from .bounds import check
from .checkpoint import Checkpoint, CheckpointState, DurableBy
from .codec import NOT_JSON, InvalidRecord, decode, decode_any_version, encode
from .csv_cell import csv_cell
from .dead_letter import DeadLetter
from .decision import Action, Decision, Mode
from .decision_result import DecisionResult, Outcome
from .estimate import ANSWERED, DurationMode, Estimate
from .failure import RULES, Component, ErrorType, Failure, FailureSource, Opinion, identified
from .feedback import Feedback
from .gpu_activity import GpuActivity, GpuSpan, GpuState
from .gpu_sample import GpuProcess, GpuSample
from .identity import decision_id, derived_id
from .incarnation import OWN_START, JobReference, incarnation_of_time, same_incarnation, same_job
from .job_event import PIPE, PRODUCER, PRODUCER_EVENTS, EventKind, JobEvent
from .job_metric import JobMetric, OverRanks
from .known_format import ColumnMeaning, ColumnRole, KnownFormat, Reports, TemplateFormat
from .log_chunk import Lines, LogChunk, NodeLogChunk
from .model_answer import Certainty, FailureAnswer, ModelAnswer, Sample
from .model_question import (
    CandidateCause,
    ChunkReference,
    FailureFacts,
    FormatQuestion,
    ModelQuestion,
    QuestionKind,
    StreamReference,
    TemplateSamples,
)
from .network_error import misconfigured, network_error, untrusted
from .node_finding import NodeFinding, Severity
from .operator_command import Command, OperatorCommand
from .placement import Placement
from .quota import BeyondQuota, OrganisationDemand, Quota
from .recovery_action import RecoveryAction
from .slowdown import Slowdown
from .start_estimate import StartEstimate
from .topics import BY_NAME, BY_RECORD, TOPICS, Topic, topic_of
from .user_error import ExpectationError, UserError, counted, in_words
from .workload import Workload

__all__ = [
    "ANSWERED",
    "BY_NAME",
    "BY_RECORD",
    "NOT_JSON",
    "OWN_START",
    "PIPE",
    "PRODUCER",
    "PRODUCER_EVENTS",
    "RULES",
    "TOPICS",
    "VERSION",
    "Action",
    "Alarm",
    "AlarmKind",
    "BeyondQuota",
    "CandidateCause",
    "Certainty",
    "Checkpoint",
    "CheckpointState",
    "ChunkReference",
    "ColumnMeaning",
    "ColumnRole",
    "Command",
    "Component",
    "DeadLetter",
    "Decision",
    "DecisionResult",
    "DurableBy",
    "DurationMode",
    "ErrorType",
    "Estimate",
    "EventKind",
    "Evidence",
    "ExpectationError",
    "Failure",
    "FailureAnswer",
    "FailureFacts",
    "FailureSource",
    "Feedback",
    "FormatQuestion",
    "GpuActivity",
    "GpuProcess",
    "GpuSample",
    "GpuSpan",
    "GpuState",
    "InvalidRecord",
    "JobEvent",
    "JobMetric",
    "JobReference",
    "KnownFormat",
    "Lines",
    "LogChunk",
    "Mode",
    "ModelAnswer",
    "ModelQuestion",
    "NodeFinding",
    "NodeLogChunk",
    "OperatorCommand",
    "Opinion",
    "OrganisationDemand",
    "Outcome",
    "OverRanks",
    "Placement",
    "Position",
    "QuestionKind",
    "Quota",
    "Record",
    "RecoveryAction",
    "Reports",
    "Sample",
    "Severity",
    "Slowdown",
    "StartEstimate",
    "StreamReference",
    "TemplateFormat",
    "TemplateSamples",
    "Topic",
    "UserError",
    "Workload",
    "check",
    "counted",
    "csv_cell",
    "decision_id",
    "decode",
    "decode_any_version",
    "derived_id",
    "encode",
    "identified",
    "in_words",
    "incarnation_of_time",
    "misconfigured",
    "network_error",
    "same_incarnation",
    "same_job",
    "topic_of",
    "untrusted",
]
