"""The installed stages: those that ship, and those of other distributions, whose errors they cannot pass on."""

from dataclasses import replace
from typing import Any

import msgspec

from processors.stage import AnyStage, Stage, StageSettings
from processors.stages import SHIPPED, in_order
from schedmate_records import BY_NAME
from streams.rights import ROLES

from ..settings.settings import PluginSections
from .contained_stage import ContainedStage, ContainedStageMetrics
from .loading import check_plugin, load_usable
from .plugins import STAGES, PluginError


def installed_stages(settings: StageSettings, sections: PluginSections) -> list[AnyStage]:
    """Return all stages, in order. A stage of another distribution that cannot be used is logged and left out.

    Args:
        settings: What every stage is made from; `section` is read from `sections` for each.
        sections: The sections of plugins.

    Raises:
        PluginError: A stage that ships is not registered.
        SettingsError: A value in the section of a stage is refused.
    """

    def create(name: str, kind: Any) -> AnyStage:
        check_plugin(name, kind, Stage, "stage")
        section = sections.read(name, kind.settings)
        made: AnyStage = kind.from_settings(replace(settings, section=section))
        if kind in SHIPPED:
            return made
        _check_interface(made)
        return ContainedStage(made, metrics)

    metrics = ContainedStageMetrics()
    found = load_usable(STAGES, "stage", create)
    if missing := {kind.name for kind in SHIPPED} - {stage.name for stage in found}:
        raise PluginError(f"expected the stages {', '.join(sorted(missing))} to be registered: install schedmate again")
    return in_order(found)


def _check_interface(stage: AnyStage) -> None:
    """Raise `PluginError` for a state without defaults, and for topics that are not keyed by job or that a worker may not read."""
    try:
        msgspec.json.decode(msgspec.json.encode(stage.state()), type=stage.state)
    except (AttributeError, TypeError, msgspec.MsgspecError) as error:
        raise PluginError(f"expected a Struct with defaults as the state of the stage {stage.name}: {error}") from error
    readable = {name for name in ROLES["worker"].reads if name in BY_NAME and BY_NAME[name].key == "job"}
    if unknown := set(stage.inputs) - readable:
        names = ", ".join(sorted(unknown))
        raise PluginError(f"expected inputs of the stage {stage.name} among {', '.join(sorted(readable))}; got {names}")
