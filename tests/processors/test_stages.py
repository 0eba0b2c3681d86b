"""Where stages are registered."""

import msgspec
import pytest

from processors.job import JobProcessor
from processors.settings import ProcessorSettings
from processors.stage import Stage
from processors.stages import StageStates, all_stages


def test_each_stage_has_a_field_for_what_it_remembers() -> None:
    assert [stage.name for stage in all_stages(ProcessorSettings())] == list(StageStates.__struct_fields__)


def test_a_stage_without_a_field_is_refused_by_name_and_place() -> None:
    class Forgotten(Stage[msgspec.Struct]):
        name = "forgotten"

    with pytest.raises(TypeError, match=r"`forgotten` of StageStates in processors/stages\.py for Forgotten"):
        JobProcessor(stages=[Forgotten()])
