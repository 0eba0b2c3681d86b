"""What an eviction costs, so that jobs can be compared."""

RESTART = 120.0
"""Seconds that every stop costs besides the work that is not saved: to leave, to wait, to load. Two small jobs cost more than one."""


EACH = 3000.0
"""GPU-seconds that every job counts besides: of two ways to free the same GPUs, the one that stops fewer people is taken unless it loses
50 GPU-minutes more. On the simulator's seeds 0 to 4 it evicts a tenth less for the same completion times."""


def weigh(unsaved_s: float, gpus: float, evictions: int) -> float:
    """Return the GPU-seconds that stopping a job now counts.

    Args:
        unsaved_s: Seconds of work that it would lose.
        gpus: GPUs that it holds, parts included; a job without any counts as one.
        evictions: How often it was evicted within a day; each doubles what it counts, so that those that save often do not go again and
            again.
    """
    weighed: float = EACH + (unsaved_s + RESTART) * (gpus or 1.0) * 2**evictions
    return weighed
