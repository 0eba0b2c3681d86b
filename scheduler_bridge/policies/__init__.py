"""What a finding means for the scheduler: pure functions, one file each. What no policy speaks of leads to nothing."""

from records import Decision, Failure, Slowdown
from scheduler_bridge.settings import BridgeSettings

from . import cancel_packing, restart

__all__ = ["propose"]


def propose(finding: Failure | Slowdown, settings: BridgeSettings) -> Decision | None:
    """Return what should be done about a finding; None for nothing."""
    if isinstance(finding, Failure):
        return restart.decide(finding, settings)
    return cancel_packing.decide(finding, settings)
