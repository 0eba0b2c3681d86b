"""Activity of one GPU from its samples: it works, waits in a kernel, or is idle. Short changes are ignored."""

import msgspec

from schedmate_records import GpuSample, GpuState

GAP_S = 60.0
"""Seconds between two samples above which nothing is known of the time between them."""
SUSTAINED_S = 30.0
"""A GPU waits, or is idle, once its samples have shown nothing else for so long."""
SAMPLES = 3
"""And so many of them."""
WINDOW_S = 60.0
"""Two samples of work within so long are work: what waits for data between its steps is not idle."""
IDLE_PERCENT = 1
"""Utilisation of a GPU without a kernel at most, and memory utilisation of one whose kernel waits."""


def state_of(sample: GpuSample, working_watts: float) -> GpuState:
    """Return the state that one sample shows. `working_watts`: the most that the GPU was seen to draw at work; 0 before."""
    kernel, memory = sample.utilisation, sample.memory_utilisation
    if sample.error or kernel is None:
        return GpuState.UNKNOWN
    if kernel <= IDLE_PERCENT:
        return GpuState.IDLE if (memory or 0) <= IDLE_PERCENT else GpuState.WORKING
    # A kernel that never ends keeps an H100 at 100 %, and its memory at 0 % (benchmarks/gpu).
    if kernel < 90 or (memory or 0) > IDLE_PERCENT:
        return GpuState.WORKING
    if memory is None:
        return GpuState.UNKNOWN
    # Such a kernel drew 126 W where work draws 620 W. A kernel that computes in caches alone draws more than half.
    saves = sample.power_watts is None or sample.power_watts <= 0.5 * working_watts
    return GpuState.WAITING if saves else GpuState.UNKNOWN


class FollowedGpu(msgspec.Struct):
    """State of a GPU.

    Attributes:
        gpu: NVML index.
        time: Of the newest sample, in seconds since 1970.
        state: What it does.
        began: When that began.
        run: The state that the newest samples in a row show.
        run_since: Time of the first of them.
        run_samples: How many they are.
        active: Time of the newest sample that showed anything but waiting or idle.
        worked: Time of the newest one that showed work.
        watts: The most that it was seen to draw at work.
        jobs: Jobs whose processes it holds, or held last.
        ranks: Their ranks, as far as the processes name them.
        foreign: It holds processes whose job is not known.
        empty: It holds no process.
    """

    gpu: int = 0
    time: float = 0.0
    state: GpuState = GpuState.UNKNOWN
    began: float = 0.0
    run: GpuState = GpuState.UNKNOWN
    run_since: float = 0.0
    run_samples: int = 0
    active: float = 0.0
    worked: float = 0.0
    watts: float = 0.0
    jobs: list[str] = []
    ranks: list[int] = []
    foreign: bool = False
    empty: bool = True

    @property
    def unchanged_since(self) -> float:
        """Time since when its state is the same, in seconds since 1970."""
        return max(self.began, self.active) if self.state in (GpuState.WAITING, GpuState.IDLE) else self.began

    def add_sample(self, sample: GpuSample) -> float:
        """Add a sample; return the seconds since the one before, 0 where nothing is known of them or the sample is an old one."""
        elapsed = sample.time - self.time
        if -GAP_S < elapsed <= 0:
            return 0.0
        known = 0 < elapsed <= GAP_S
        if not known:
            self.state, self.began, self.run_samples, self.worked, self.active = (
                GpuState.UNKNOWN,
                sample.time,
                0,
                0.0,
                sample.time,
            )
        self.gpu, self.time = sample.gpu, sample.time
        self._set_holder(sample)
        self._follow(state_of(sample, self.watts), sample)
        return elapsed if known else 0.0

    def _set_holder(self, sample: GpuSample) -> None:
        jobs = sorted({each.job for each in sample.processes if each.job})
        self.empty, self.foreign = not sample.processes, any(not each.job for each in sample.processes)
        if jobs:
            self.jobs = jobs
            self.ranks = sorted({each.rank for each in sample.processes if each.rank is not None})
        elif self.foreign:
            self.jobs, self.ranks = [], []

    def _follow(self, seen: GpuState, sample: GpuSample) -> None:
        time = sample.time
        if seen is not self.run or not self.run_samples:
            self.run, self.run_since, self.run_samples = seen, time, 0
        self.run_samples += 1
        lasting = time - self.run_since >= SUSTAINED_S and self.run_samples >= SAMPLES
        if seen is GpuState.WORKING:
            self.watts = max(self.watts, sample.power_watts or 0.0)
            if self.worked and time - self.worked <= WINDOW_S:
                self._become(seen, self.worked)
            self.worked = time
        elif lasting:
            self._become(seen, self.run_since)
        elif self.state is GpuState.WORKING and time - self.worked > WINDOW_S:
            self._become(GpuState.UNKNOWN, self.worked)
        if seen in (GpuState.WORKING, GpuState.UNKNOWN):
            self.active = time

    def _become(self, state: GpuState, since: float) -> None:
        if state is not self.state:
            self.state, self.began = state, since
