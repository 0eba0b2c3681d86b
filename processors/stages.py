"""The stages of a job: here each is registered.

What an operator sets of one is also named in `settings.py`, which commands read that run no stage.
"""

from collections.abc import Sequence

import msgspec

from .activity.stage import ActivityMonitor, ActivityState
from .advise.remaining.stage import Remaining, RemainingState
from .alarms.monitor import AlarmMonitor, AlarmState
from .checkpoints import Checkpoints, CheckpointsState
from .diagnose import FailureHandler, Signature
from .diagnose.stage import Diagnosis, DiagnosisState
from .interference.monitor import InterferenceMonitor, InterferenceState
from .placements import Placements, PlacementsState
from .settings import ProcessorSettings
from .stage import AnyStage


class StageStates(msgspec.Struct, kw_only=True):
    """States of the stages of an attempt, each in the field of its `Stage.name`."""

    placements: PlacementsState = msgspec.field(default_factory=PlacementsState)
    alarms: AlarmState = msgspec.field(default_factory=AlarmState)
    interference: InterferenceState = msgspec.field(default_factory=InterferenceState)
    checkpoints: CheckpointsState = msgspec.field(default_factory=CheckpointsState)
    remaining: RemainingState = msgspec.field(default_factory=RemainingState)
    activity: ActivityState = msgspec.field(default_factory=ActivityState)
    diagnosis: DiagnosisState = msgspec.field(default_factory=DiagnosisState)


def all_stages(settings: ProcessorSettings, signatures: Sequence[Signature] | None = None) -> tuple[AnyStage, ...]:
    """Return the stages, in the order in which they hear of a record.

    Args:
        settings: The operator's.
        signatures: Of failures; those that ship where not given.
    """
    return (
        Placements(),
        AlarmMonitor(),
        InterferenceMonitor(threshold=settings.slowdown_threshold, warmup_steps=settings.warmup_steps),
        Checkpoints(),
        Remaining(),
        ActivityMonitor(settings.hang_seconds, settings.hang_confirmed_seconds, settings.gpus_idle_seconds),
        Diagnosis(FailureHandler(signatures), ask_models=settings.ask_models),
    )
