"""What an operator writes, and what the bridge makes of it."""

import pytest
from pydantic import ValidationError

from schedmate_records import Action, Mode
from scheduler_bridge import BridgeSettings
from scheduler_bridge.maintenance import Window
from scheduler_bridge.selectors import Selector


def test_text_of_the_environment_becomes_what_policies_and_guardrails_take() -> None:
    settings = BridgeSettings.model_validate(
        {
            "modes": "restart=act, evict=approve",
            "modes_for": '{"partition=prod": {"restart": "approve"}}',
            "maintenance": "sat 22:00-06:00, daily 01:00-02:00",
            "evict_for": "qos=urgent, partition=p&priority>=1000",
        }
    )
    assert settings.modes == {Action.RESTART: Mode.ACT, Action.EVICT: Mode.APPROVE}
    assert settings.modes_for == {Selector.parse("partition=prod"): {Action.RESTART: Mode.APPROVE}}
    assert settings.maintenance == (Window.parse("sat 22:00-06:00"), Window.parse("daily 01:00-02:00"))
    assert settings.evict_for == (Selector.parse("qos=urgent"), Selector.parse("partition=p&priority>=1000"))
    assert [str(each) for each in (*settings.maintenance, *settings.evict_for)] == [
        "sat 22:00-06:00",
        "daily 01:00-02:00",
        "qos=urgent",
        "partition=p&priority>=1000",
    ]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("evict_for", "nobody", "expected terms such as"),
        ("evictable", ["partition=spot", 7], "Selector"),
        ("modes_for", {"nobody": {"restart": "act"}}, "expected terms such as"),
        ("maintenance", "whenever", "expected a window such as"),
    ],
)
def test_what_names_no_class_and_no_time_is_refused(name: str, value: object, expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        BridgeSettings.model_validate({name: value})
