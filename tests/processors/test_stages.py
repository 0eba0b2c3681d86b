"""The stages that ship."""

from processors.stages import SHIPPED, in_order, shipped_stages


def test_stages_that_ship_are_in_order() -> None:
    stages = shipped_stages()
    assert [type(stage) for stage in stages] == list(SHIPPED)
    assert in_order(reversed(stages)) == stages


def test_each_stage_has_a_state_of_defaults_and_its_own_name() -> None:
    stages = shipped_stages()
    for stage in stages:
        assert isinstance(stage.state(), stage.state)
    assert len({stage.name for stage in stages}) == len(stages)
