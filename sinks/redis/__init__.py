"""Now: the state of every job and node in Redis."""

from .connect import check_redis, open_redis
from .keys import PREFIX, Keys
from .memory import MemoryState
from .read_state import read_job, read_jobs, read_states
from .state import RedisState, StateMetrics
from .status import FailedAttempt, JobStatus, RankStatus

__all__ = [
    "PREFIX",
    "FailedAttempt",
    "JobStatus",
    "Keys",
    "MemoryState",
    "RankStatus",
    "RedisState",
    "StateMetrics",
    "check_redis",
    "open_redis",
    "read_job",
    "read_jobs",
    "read_states",
]
