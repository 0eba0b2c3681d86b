"""The stages that ship. `pyproject.toml` registers them as entry points, as another distribution registers its own."""

from collections.abc import Iterable

from .activity.stage import ActivityMonitor
from .advise.remaining.stage import Remaining
from .alarms.monitor import AlarmMonitor
from .checkpoints import Checkpoints
from .diagnose.stage import Diagnosis
from .interference.monitor import InterferenceMonitor
from .placements import Placements
from .settings import ProcessorSettings
from .stage import AnyStage, StageSettings

SHIPPED: tuple[type[AnyStage], ...] = (
    Placements,
    AlarmMonitor,
    InterferenceMonitor,
    Checkpoints,
    Remaining,
    ActivityMonitor,
    Diagnosis,
)


def shipped_stages(settings: StageSettings | None = None) -> list[AnyStage]:
    """Return the stages that ship, in order. Without `settings` they have their defaults."""
    used = settings or StageSettings(ProcessorSettings())
    return in_order(kind.from_settings(used) for kind in SHIPPED)


def in_order(stages: Iterable[AnyStage]) -> list[AnyStage]:
    """Return `stages` in the order in which they get a record."""
    return sorted(stages, key=lambda stage: (stage.order, stage.name))
