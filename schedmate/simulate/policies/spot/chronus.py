"""Chronus: leases instead of preemption (Gao et al., SoCC 2021), as GFS compares with it (section 4.1)."""

from ...job import Run
from ...simulation import Simulation
from .base import SpotPolicy


class Chronus(SpotPolicy):
    """Spot jobs hold leases that end together; only then can their GPUs go to high-priority jobs.

    A job whose lease is not renewed saves at its end, as it knows it beforehand, and loses nothing but a restart. High-priority jobs,
    whose leases are always renewed, start at once where there is room. The paper's mixed-integer programme, which admits jobs with
    deadlines, has nothing to decide here: jobs without deadlines
    are all admitted.

    Args:
        lease_s: Length of a spot job's lease; GFS gives spot jobs 5 minutes.
        saves: Jobs save at the end of a lease. Else they lose what came after their last checkpoint, as under the other policies.
    """

    def __init__(self, lease_s: float = 300.0, *, saves: bool = True) -> None:
        super().__init__(grace_s=0.0)
        self.evict_every_s = lease_s
        self.saves = saves

    def evict(self, simulation: Simulation, run: Run) -> None:
        """End a lease."""
        self.state.note_eviction(run, simulation.now)
        simulation.evict(run, self.grace_s, saved=self.saves)
