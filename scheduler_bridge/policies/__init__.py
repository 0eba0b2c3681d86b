"""Policies: pure functions from findings to decisions, one file each."""

from collections.abc import Collection

from schedmate_records import Alarm, AlarmKind, Decision, Failure, Slowdown

from ..settings import BridgeSettings
from . import cancel_job, cancel_packing, drain, hold, restart

__all__ = ["OF_ALARMS", "OF_FAILURES", "drain", "hold", "propose"]

OF_ALARMS = {AlarmKind.HANG: cancel_job.HUNG, AlarmKind.GPUS_IDLE: cancel_job.IDLE}
"""Policies whose decisions are retracted when the alarm is over."""
OF_FAILURES = frozenset({restart.POLICY, drain.POLICY})
"""Policies whose decisions a later revision of the verdict may retract."""


def propose(
    finding: Failure | Slowdown | Alarm,
    settings: BridgeSettings,
    users_against: Collection[str] = (),
    checkpoint: str = "",
) -> list[Decision]:
    """Return what should be done about a finding, one decision a policy at most.

    A verdict that a language model took part in leads to no drain; what the rules' own verdict led to before it stays.

    Args:
        finding: What was found.
        settings: What the operator allows.
        users_against: Users whose jobs were restarted away from the node that a failure blames, within the hour.
        checkpoint: Where the job saved last; empty where not known.
    """
    if isinstance(finding, Failure):
        drained = None if finding.opinions else drain.decide(finding, settings, users_against)
        proposed = [drained, restart.decide(finding, settings, checkpoint)]
    elif isinstance(finding, Alarm):
        proposed = [cancel_job.decide(finding, settings)]
    else:
        proposed = [cancel_packing.decide(finding, settings)]
    return [decision for decision in proposed if decision]
