"""Time limits of the Slurm actuator."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """Settings of the actuator: time limits, and the size of a whole GPU.

    Attributes:
        stop_timeout: Seconds that a running job may take to leave its nodes (KillWait, epilog) before we give up.
        rest: Whole seconds between the end of an attempt and the next start where the job may return to a node that it just left.
            A slurmd refuses credentials made within the second in which it revoked the job's last one ("Job credential revoked": the
            new attempt fails at once), and clocks of nodes differ a little. Slurm itself would wait for two minutes.
        settle: Seconds to wait for a requeued job to run before "it is in the queue" is taken as the answer.
        poll: Seconds between two looks.
        shards_per_gpu: Shards that make a whole GPU; 0 asks the nodes (their Gres: shards over GPUs).
    """

    stop_timeout: float = 120.0
    rest: int = 2
    settle: float = 2.0
    poll: float = 0.1
    shards_per_gpu: int = 0
