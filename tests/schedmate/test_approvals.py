"""Which decision a person means."""

import pytest

from schedmate.approvals import Approvals, NotWaiting
from schedmate_records import Action, DecisionResult, Mode, Outcome
from tests.scheduler_bridge.findings import NOW
from tests.scheduler_bridge.guardrails.test_guardrails import decision


def test_an_empty_id_means_no_decision_though_one_alone_waits() -> None:
    one = decision(mode=Mode.APPROVE)
    waits = DecisionResult(
        id="r", decision_id=one.id, action=Action.RESTART, time=NOW, outcome=Outcome.AWAITING_APPROVAL
    )
    approvals = Approvals([one, waits])
    assert approvals.find(one.id[:9], NOW) == one
    with pytest.raises(NotWaiting):
        approvals.find("", NOW)
