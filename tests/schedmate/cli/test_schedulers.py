"""What there must be of each scheduler that `bridge.scheduler` may name."""

from typing import get_args
from unittest.mock import MagicMock

import pytest

from schedmate.cli import bridge
from scheduler_bridge.settings import BridgeSettings
from tests.docs.pages import ROOT

SCHEDULERS = get_args(BridgeSettings.model_fields["scheduler"].annotation)


@pytest.mark.parametrize("name", SCHEDULERS)
def test_each_scheduler_has_its_actuator(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_API_SERVER_ADDRESS", "http://ray-head:8265")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "t" * 64)
    monkeypatch.setattr("scheduler_bridge.schedulers.kubernetes.client.KubernetesClient.connect", MagicMock())
    assert bridge.actuator(BridgeSettings(scheduler=name)).name == name


@pytest.mark.parametrize("name", SCHEDULERS)
def test_each_scheduler_is_named_where_people_look(name: str) -> None:
    limits = (ROOT / "README.md").read_text().partition("\n## Limits\n")[2].partition("\n## ")[0]
    assert name in (bridge.command.__doc__ or "").lower(), "the help of `bridge` names all that it acts on"
    assert name in limits.lower(), "README says of each what was tried"
