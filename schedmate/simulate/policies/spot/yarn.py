"""YARN's capacity scheduler as GFS compares with it: first come, first served, best fit, preemption (GFS, section 4.1)."""

from .base import SpotPolicy


class YarnCs(SpotPolicy):
    """Each queue stops at the first job that does not fit; a pod goes to the node with the fewest free GPUs that suffices.

    For a high-priority job the youngest spot jobs go, as YARN preempts the containers that were allocated last.
    """

    backfills = False
