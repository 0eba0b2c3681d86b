"""The jobs of the demo: what each prints, and what is to become of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """One job.

    Attributes:
        name: Its function in `jobs.py`, and its job id.
        prints: In which manner.
        story: Requested phase.
        ranks: Number of processes.
        partition: Its class: `spot` may be evicted for `urgent`.
        priority: The larger, the sooner it starts.
    """

    name: str
    prints: str
    story: str
    ranks: int = 1
    partition: str = ""
    priority: int = 0


VICTIM = Program("bar", "a tqdm bar", "slowed by a job that is packed with it")
FAULTY = Program("trainer", "a dict per report", "its GPU falls off the bus")
BUGGY = Program("pairs", "key: value pairs", "its Python code has a bug")
KILLED = Program("jsonl", "JSON lines", "someone kills it with SIGKILL")
SAVER = Program(
    "saver", "lines, with checkpoints", "is evicted for urgent; resumes from its checkpoint", partition="spot"
)
URGENT = Program(
    "urgent", "key=value pairs", "urgent: the job that loses least is evicted for it", partition="urgent", priority=10
)
HEALTHY = Program("table", "an epoch/batch table", "waits for a slot, then completes")
NEIGHBOUR = Program("ranks", "lines of two ranks", "asks to be packed with bar", ranks=2)

PROGRAMS = (VICTIM, FAULTY, BUGGY, KILLED, SAVER, HEALTHY, NEIGHBOUR, URGENT)
